/* Knows: the text file that says what the stand-in DLLs play. Must not know: any of their functions.
 *
 * The environment variable GPUMON_WORLD names the file (UTF-8). It is read again when it changes, so a test moves the
 * world on by writing it anew. Without the file there is nothing on the machine.
 *
 *   # comment
 *   [counters]                 performance counters (pdh.c)
 *   [adapter]                  one graphics adapter (adapters.c); as many as there are
 *   [driver]                   NVIDIA's driver (nvml.c)
 *   [gpu]                      one GPU of it; as many as there are
 *   key = value                below a heading; split at the last " = ", since instance names may hold one
 *
 * Numbers are decimal, 0x hexadecimal, or with KiB, MiB, GiB behind.
 */
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API __declspec(dllexport)

typedef struct { char *key, *value; } LINE;
typedef struct { char *name; LINE *lines; int count, room; } BLOCK;

static BLOCK blocks[64];
static int block_count, world_number;
static CRITICAL_SECTION world_lock;
static FILETIME world_time;
static DWORD world_size;

static char *trimmed(char *text)
{
    char *end;
    while (*text == ' ' || *text == '\t') text++;
    end = text + strlen(text);
    while (end > text && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r')) *--end = 0;
    return text;
}

static char *last_equals(char *line)
{
    char *found = NULL;
    for (char *at = line; (at = strstr(at, " = ")); at++) found = at;
    return found;
}

static void world_parse(char *text)
{
    BLOCK *block = NULL;
    block_count = 0; /* what was read before is never freed: pointers into it stay good, and tests are short */
    memset(blocks, 0, sizeof blocks);
    for (char *line = text, *next; line; line = next) {
        char *equals;
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        line = trimmed(line);
        if (!*line || *line == '#') continue;
        if (*line == '[') {
            line[strcspn(line, "]")] = 0;
            if (block_count < 64) (block = &blocks[block_count++])->name = line + 1;
            continue;
        }
        if (!block) { fprintf(stderr, "stand-in: a line before the first heading: %s\n", line); continue; }
        if (block->count == block->room) {
            block->room = block->room * 2 + 64;
            block->lines = realloc(block->lines, block->room * sizeof *block->lines);
        }
        equals = last_equals(line);
        if (equals) *equals = 0;
        block->lines[block->count].key = trimmed(line);
        block->lines[block->count++].value = equals ? trimmed(equals + 3) : line + strlen(line);
    }
}

/* Look whether the file has changed. */
static void world_look(void)
{
    WCHAR path[MAX_PATH];
    WIN32_FILE_ATTRIBUTE_DATA facts;
    HANDLE file;
    DWORD got = 0;
    char *text;
    if (!GetEnvironmentVariableW(L"GPUMON_WORLD", path, MAX_PATH)) return;
    if (!GetFileAttributesExW(path, GetFileExInfoStandard, &facts)) { block_count = 0; world_size = 0; return; }
    if (facts.nFileSizeLow == world_size && !CompareFileTime(&facts.ftLastWriteTime, &world_time)) return;
    file = CreateFileW(path, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_EXISTING, 0, NULL);
    if (file == INVALID_HANDLE_VALUE) return; /* being written */
    text = malloc(facts.nFileSizeLow + 1);
    ReadFile(file, text, facts.nFileSizeLow, &got, NULL);
    CloseHandle(file);
    text[got] = 0;
    world_parse(text);
    world_size = facts.nFileSizeLow;
    world_time = facts.ftLastWriteTime;
    world_number++;
}

/* The next reading of the file takes place, changed or not: two writes within one tick of the clock look the same. */
static void world_forget(void)
{
    EnterCriticalSection(&world_lock);
    world_size = 0;
    world_time.dwLowDateTime = world_time.dwHighDateTime = 0;
    LeaveCriticalSection(&world_lock);
}

/* The n-th block of that name. */
static BLOCK *block_named(const char *name, int n)
{
    for (int i = 0; i < block_count; i++)
        if (!strcmp(blocks[i].name, name) && !n--) return &blocks[i];
    return NULL;
}

/* The value of the n-th line with this key. */
static inline const char *value_of(const BLOCK *block, const char *key, int n)
{
    for (int i = 0; block && i < block->count; i++)
        if (!strcmp(block->lines[i].key, key) && !n--) return block->lines[i].value;
    return NULL;
}

static ULONGLONG number(const char *text)
{
    char *end;
    double given;
    if (!strcmp(text, "na")) return ~0ULL;
    if (text[0] == '0' && (text[1] | 32) == 'x') return _strtoui64(text, NULL, 16);
    given = strtod(text, &end);
    if (!strncmp(end, "KiB", 3)) given *= 1024.0;
    else if (!strncmp(end, "MiB", 3)) given *= 1048576.0;
    else if (!strncmp(end, "GiB", 3)) given *= 1073741824.0;
    else return _strtoui64(text, NULL, 10);
    return (ULONGLONG)given;
}

/* The n-th word of a value, as a number. */
static inline ULONGLONG word(const char *text, int n)
{
    while (text && n--) { text = strchr(text, ' '); while (text && *text == ' ') text++; }
    return text ? number(text) : 0;
}
