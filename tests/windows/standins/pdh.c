/* Knows: pdh.dll, as far as GPUMon and psutil call it. Must not know: NVML.
 *
 * Lines of [counters]:
 *   \GPU Engine(pid_1_luid_..._eng_0_engtype_3D)\Utilization Percentage = 12.5
 *   status \GPU Engine(pid_2_*)\* = 0xC0000BBA       CStatus of the instances that match (* and ?)
 *   fail PdhCollectQueryData = 0x800007D5            what the function answers
 *   missing GPU Adapter Memory                       this object does not exist
 *   refuse 0xC0000BBD                                the answer to a buffer that is too small (else MORE_DATA)
 *   late                                             asking for the size misses the last instance: it appears meanwhile
 *
 * As Microsoft documents it (learn.microsoft.com, "Performance Counters Functions", "Checking PDH Interface Return
 * Values"); never compared with a real machine:
 *   - percentages need two collects: the first read answers PDH_INVALID_DATA; an instance that was not in the collect
 *     before has CStatus PDH_CSTATUS_INVALID_DATA once
 *   - PDH_MORE_DATA and the size when asked with size 0; after a size that was too small the size is rubbish
 *   - names lie behind the items in the caller's buffer; values over 100 are cut unless PDH_FMT_NOCAP100
 *   - English names work by PdhAddEnglishCounterW only: this Windows is Chinese
 *   - the GPU sets exist, with or without instances, unless they are missing; what psutil asks for is 0
 */
#include "world.h"
#include <wchar.h>

typedef LONG STATUS;
typedef struct { DWORD CStatus; union { LONG l; double d; LONGLONG ll; LPCWSTR w; } u; } FMT;
typedef struct { LPWSTR szName; FMT v; } FMT_ITEM;

#define MORE_DATA       ((STATUS)0x800007D2)
#define NO_DATA         ((STATUS)0x800007D5)
#define NO_OBJECT       ((STATUS)0xC0000BB8)
#define NO_COUNTER      ((STATUS)0xC0000BB9)
#define CS_INVALID_DATA ((DWORD)0xC0000BBA)
#define BAD_HANDLE      ((STATUS)0xC0000BBC)
#define BAD_ARGUMENT    ((STATUS)0xC0000BBD)
#define BAD_NAME        ((STATUS)0xC0000BC0)
#define INVALID_DATA    ((STATUS)0xC0000BC6)
#define FMT_LONG   0x100
#define FMT_DOUBLE 0x200
#define FMT_LARGE  0x400
#define NOCAP100   0x8000

typedef struct { WCHAR *name; double value; DWORD status; int is_new; } SAMPLE;
typedef struct COUNTER { DWORD magic; struct COUNTER *next; struct QUERY *query; char *object, *counter; int is_rate, collects;
                         SAMPLE *samples; int count; } COUNTER;
typedef struct QUERY { DWORD magic; COUNTER *counters; } QUERY;
#define QUERY_MAGIC 0x59524551
#define COUNTER_MAGIC 0x52544E43

void adapters_attach(void);
void adapters_forget(void);

static int matches(const char *pattern, const char *text)
{
    for (; *pattern; pattern++, text++) {
        if (*pattern == '*') {
            while (*pattern == '*') pattern++;
            for (; *text; text++) if (matches(pattern, text)) return 1;
            return !*pattern;
        }
        if (!*text || (*pattern != '?' && (*pattern | 32) != (*text | 32))) return 0;
    }
    return !*text;
}

/* "\Object(instance)\Counter": where object, instance and counter lie. */
typedef struct { const char *object, *instance, *counter; size_t object_size, instance_size; } PATH;
static int split(const char *path, PATH *parts)
{
    const char *slash, *open;
    if (*path != '\\' || !(slash = strrchr(path, '\\')) || slash == path) return 0;
    open = strchr(path, '(');
    parts->object = path + 1;
    parts->counter = slash + 1;
    if (open && open < slash && slash[-1] == ')') {
        parts->object_size = open - path - 1;
        parts->instance = open + 1;
        parts->instance_size = slash - 1 - parts->instance;
    } else {
        parts->object_size = slash - path - 1;
        parts->instance = "";
        parts->instance_size = 0;
    }
    return 1;
}

static STATUS scripted(const char *function)
{
    char key[64];
    const char *code;
    snprintf(key, sizeof key, "fail %s", function);
    code = value_of(block_named("counters", 0), key, 0);
    return code ? (STATUS)number(code) : 0;
}

static const char *option(const char *name) /* "name ARGUMENT" without a value */
{
    const BLOCK *all = block_named("counters", 0);
    size_t size = strlen(name);
    for (int i = 0; all && i < all->count; i++)
        if (!strncmp(all->lines[i].key, name, size) && (all->lines[i].key[size] == ' ' || !all->lines[i].key[size]))
            return all->lines[i].key + size + (all->lines[i].key[size] == ' ');
    return NULL;
}

static const char *const known[] = {
    "GPU Engine\\Utilization Percentage", "GPU Engine\\Running Time",
    "GPU Adapter Memory\\Dedicated Usage", "GPU Adapter Memory\\Shared Usage", "GPU Adapter Memory\\Total Committed",
    "GPU Process Memory\\Dedicated Usage", "GPU Process Memory\\Shared Usage", "GPU Process Memory\\Local Usage",
    "GPU Process Memory\\Non Local Usage", "GPU Process Memory\\Total Committed" };

static int exists(const PATH *path) /* 0 no object, 1 no such counter, 2 both */
{
    const BLOCK *all = block_named("counters", 0);
    char full[256];
    int found = 0;
    snprintf(full, sizeof full, "%.*s\\%s", (int)path->object_size, path->object, path->counter);
    for (int i = 0; all && i < all->count; i++)
        if (!strncmp(all->lines[i].key, "missing ", 8) && !_strnicmp(full, all->lines[i].key + 8, strlen(all->lines[i].key + 8)))
            return 0;
    for (size_t i = 0; all && i < sizeof known / sizeof *known; i++) {
        if (_strnicmp(known[i], full, path->object_size + 1)) continue;
        found |= _stricmp(known[i], full) ? 1 : 2;
    }
    return found & 2 ? 2 : found;
}

static int is_of_psutil(const char *path)
{
    return strstr(path, "Processor Queue Length") || strstr(path, "Paging File");
}

static WCHAR *wide(const char *text, size_t size)
{
    int count = MultiByteToWideChar(CP_UTF8, 0, text, (int)size, NULL, 0);
    WCHAR *made = malloc((count + 1) * sizeof *made);
    MultiByteToWideChar(CP_UTF8, 0, text, (int)size, made, count);
    made[count] = 0;
    return made;
}

static int was_there(const COUNTER *counter, const WCHAR *name, int *at)
{
    for (int n = 0; n < counter->count; n++, ++*at) { /* in the same order most of the time */
        if (*at >= counter->count) *at = 0;
        if (!wcscmp(counter->samples[*at].name, name)) { ++*at; return 1; }
    }
    return 0;
}

static void collect(COUNTER *counter)
{
    const BLOCK *all = block_named("counters", 0);
    SAMPLE *samples = calloc((all ? all->count : 0) + 1, sizeof *samples);
    size_t object_size = strlen(counter->object);
    int count = 0, at = 0, has_status = option("status") != NULL;
    for (int i = 0; all && i < all->count; i++) {
        PATH path;
        if (!split(all->lines[i].key, &path) || path.object_size != object_size) continue;
        if (_strnicmp(path.object, counter->object, object_size) || _stricmp(path.counter, counter->counter)) continue;
        samples[count].name = wide(path.instance, path.instance_size);
        samples[count].value = strtod(all->lines[i].value, NULL);
        for (int k = 0; has_status && k < all->count; k++)
            if (!strncmp(all->lines[k].key, "status ", 7) && matches(all->lines[k].key + 7, all->lines[i].key))
                samples[count].status = (DWORD)number(all->lines[k].value);
        samples[count].is_new = counter->is_rate && !was_there(counter, samples[count].name, &at);
        count++;
    }
    for (int i = 0; i < counter->count; i++) free(counter->samples[i].name);
    free(counter->samples);
    counter->samples = samples;
    counter->count = count;
    counter->collects++;
}

static int is_query(const QUERY *query) { return query && !IsBadReadPtr(query, 4) && query->magic == QUERY_MAGIC; }
static int is_counter(const COUNTER *counter) { return counter && !IsBadReadPtr(counter, 4) && counter->magic == COUNTER_MAGIC; }

static STATUS open_query(void **out)
{
    STATUS status = scripted("PdhOpenQueryW");
    QUERY *query;
    if (status) return status;
    query = calloc(1, sizeof *query); /* handles are never freed: a closed one stays known as closed */
    query->magic = QUERY_MAGIC;
    *out = query;
    return 0;
}

static STATUS add(QUERY *query, LPCWSTR given, void **out)
{
    char path[1024];
    PATH parts;
    COUNTER *counter, **end;
    STATUS status = scripted("PdhAddEnglishCounterW");
    int found;
    if (!is_query(query)) return BAD_HANDLE;
    if (status) return status;
    WideCharToMultiByte(CP_UTF8, 0, given, -1, path, sizeof path, NULL, NULL);
    if (!split(path, &parts)) return BAD_NAME;
    found = is_of_psutil(path) ? 2 : exists(&parts);
    if (found < 2) return found ? NO_COUNTER : NO_OBJECT;
    counter = calloc(1, sizeof *counter);
    counter->magic = COUNTER_MAGIC;
    counter->query = query;
    counter->object = _strdup(parts.object);
    counter->object[parts.object_size] = 0;
    counter->counter = _strdup(parts.counter);
    counter->is_rate = !strcmp(counter->counter, "Utilization Percentage");
    for (end = &query->counters; *end; end = &(*end)->next) {}
    *end = counter;
    *out = counter;
    return 0;
}

static STATUS collect_all(QUERY *query)
{
    STATUS status;
    int found = 0;
    if (!is_query(query)) return BAD_HANDLE;
    status = scripted("PdhCollectQueryData");
    if (status) return status;
    for (COUNTER *counter = query->counters; counter; counter = counter->next) {
        collect(counter);
        found |= counter->count || is_of_psutil(counter->counter) || is_of_psutil(counter->object);
    }
    return found ? 0 : NO_DATA;
}

static void put(const COUNTER *counter, const SAMPLE *sample, DWORD format, FMT *out)
{
    double value = sample->value;
    memset(out, 0, sizeof *out);
    out->CStatus = sample->status ? sample->status : sample->is_new ? CS_INVALID_DATA : counter->collects & 1; /* NEW_DATA too */
    if (out->CStatus > 1) return;
    if (counter->is_rate && !(format & NOCAP100) && value > 100) value = 100;
    if (format & FMT_DOUBLE) out->u.d = value;
    else if (format & FMT_LARGE) out->u.ll = (LONGLONG)value;
    else out->u.l = (LONG)value;
}

static STATUS array(COUNTER *counter, DWORD format, DWORD *size, DWORD *count, char *buffer)
{
    STATUS status;
    DWORD need;
    WCHAR *text;
    int items;
    if (!is_counter(counter)) return BAD_HANDLE;
    if (!size || !count || (*size && !buffer) || !(format & (FMT_LONG | FMT_DOUBLE | FMT_LARGE))) return BAD_ARGUMENT;
    status = scripted("PdhGetFormattedCounterArrayW");
    if (status) return status;
    if (!counter->collects || (counter->is_rate && counter->collects < 2)) return INVALID_DATA;
    items = counter->count - (!*size && option("late") && counter->count > 1);
    need = (DWORD)(items * sizeof(FMT_ITEM));
    for (int i = 0; i < items; i++) need += (DWORD)((wcslen(counter->samples[i].name) + 1) * sizeof(WCHAR));
    if (!items) { *size = *count = 0; return 0; }
    if (*size < need) {
        if (*size && option("refuse")) return (STATUS)number(option("refuse"));
        *size = *size ? 1 : need;
        return MORE_DATA;
    }
    text = (WCHAR *)(buffer + items * sizeof(FMT_ITEM));
    for (int i = 0; i < items; i++) {
        FMT_ITEM *item = (FMT_ITEM *)buffer + i;
        item->szName = text;
        put(counter, &counter->samples[i], format, &item->v);
        wcscpy(text, counter->samples[i].name);
        text += wcslen(text) + 1;
    }
    *size = need;
    *count = (DWORD)items;
    return 0;
}

static STATUS close_query(QUERY *query)
{
    if (!is_query(query)) return BAD_HANDLE;
    for (COUNTER *counter = query->counters; counter; counter = counter->next) counter->magic = 0;
    query->magic = 0;
    return 0;
}

#define LOCKED(call) STATUS answer; EnterCriticalSection(&world_lock); world_look(); answer = (call); LeaveCriticalSection(&world_lock); return answer
API STATUS PdhOpenQueryW(LPCWSTR source, DWORD_PTR user, void **query) { (void)source; (void)user; LOCKED(open_query(query)); }
API STATUS PdhAddEnglishCounterW(void *query, LPCWSTR path, DWORD_PTR user, void **counter) { (void)user; LOCKED(add(query, path, counter)); }
API STATUS PdhAddCounterW(void *query, LPCWSTR path, DWORD_PTR user, void **counter)
{ (void)query; (void)path; (void)user; (void)counter; return NO_OBJECT; }
API STATUS PdhCollectQueryData(void *query) { LOCKED(collect_all(query)); }
API STATUS PdhCollectQueryDataEx(void *query, DWORD interval, HANDLE event) /* psutil's load average: set once */
{ STATUS status = PdhCollectQueryData(query); (void)interval; SetEvent(event); return status; }
API STATUS PdhGetFormattedCounterArrayW(void *counter, DWORD format, DWORD *size, DWORD *count, void *buffer)
{ LOCKED(array(counter, format, size, count, buffer)); }
API STATUS PdhGetFormattedCounterValue(void *counter, DWORD format, DWORD *type, FMT *out)
{ (void)counter; (void)format; (void)type; memset(out, 0, sizeof *out); return 0; }
API STATUS PdhRemoveCounter(void *counter) { (void)counter; return 0; }
API STATUS PdhCloseQuery(void *query) { LOCKED(close_query(query)); }
API void gpumon_forget(void) { world_forget(); adapters_forget(); }

BOOL WINAPI DllMain(HINSTANCE instance, DWORD reason, LPVOID reserved)
{
    (void)reserved;
    if (reason == DLL_PROCESS_ATTACH) {
        InitializeCriticalSection(&world_lock);
        DisableThreadLibraryCalls(instance);
        adapters_attach();
    }
    return TRUE;
}
