/* Knows: Windows' graphics adapters, as far as GPUMon asks gdi32.dll and cfgmgr32.dll. Must not know: counters, NVML.
 *
 * Part of the stand-in pdh.dll: psutil loads that into every process of GPUMon. Wine's gdi32 and cfgmgr32 cannot be
 * replaced by files, so the code that their exports lead to is overwritten in memory, and so is GetProcAddress, which
 * then finds D3DKMTEnumAdapters3, which Wine 10 lacks.
 *
 * Lines of [adapter]:
 *   name = NVIDIA GeForce RTX 4090        luid = 0x0:0xC7A5 (high:low)
 *   vendor, device = 0x10DE               type = 0x3 (bits of D3DKMT_ADAPTERTYPE; no line: not answered)
 *   dedicated, shared = 24GiB             address = 1 0 0 (bus, device, function)
 *   kmd = 32.0.15.6094                    wddm = 3100          caps = 3 (WDDM_2_7_CAPS)
 *   node = 1 3D                           engine type and name, in the counters' order
 *   perf = 10501000000 1500 915 680       memory Hz, fan rpm, power in 0.1 %, deci-Celsius; no line: not answered
 *   max_fan = 3000
 *   identity = PCI\VEN_10DE&DEV_2684\4    the device for the plug-and-play manager; no line: it has none
 *   power = 4                             its DEVICE_POWER_STATE
 *   driver = {4d36e968-...}\0001          its class key
 *   broken                                the adapter answers STATUS_UNSUCCESSFUL to everything
 * Lines of [driver]:  no_enum3            D3DKMTEnumAdapters3 does not exist (before Windows 10 2004)
 *
 * Handles become invalid when the LUIDs change: a driver restart. Layouts: d3dkmthk.h, d3dkmdt.h (learn.microsoft.com).
 */
#include "world.h"

typedef LONG NT;
#define TOO_SMALL   ((NT)0xC0000023)
#define BAD_INPUT   ((NT)0xC000000D)
#define FAILED_     ((NT)0xC0000001)
#define REMOVED     ((NT)0xC00002B6) /* STATUS_DEVICE_REMOVED */
#define FIRST_HANDLE 0x40000000u
#define COMPUTE_ONLY (1u << 11)

static unsigned generation;
static char luids_before[2048];

static void look(void)
{
    char luids[2048] = "";
    const BLOCK *adapter;
    world_look();
    for (int n = 0; (adapter = block_named("adapter", n)); n++) {
        const char *luid = value_of(adapter, "luid", 0);
        strncat(luids, luid ? luid : "?", sizeof luids - strlen(luids) - 1);
    }
    if (strcmp(luids, luids_before)) { generation++; strcpy(luids_before, luids); }
}

static LUID luid_of(const BLOCK *adapter)
{
    const char *text = value_of(adapter, "luid", 0), *colon = text ? strchr(text, ':') : NULL;
    LUID luid = { colon ? strtoul(colon + 1, NULL, 16) : 0, text ? (LONG)strtoul(text, NULL, 16) : 0 };
    return luid;
}

static const BLOCK *by_handle(UINT handle)
{
    if (handle < FIRST_HANDLE || (handle - FIRST_HANDLE) / 1024 != generation % 1024) return NULL;
    return block_named("adapter", (int)((handle - FIRST_HANDLE) % 1024 / 4));
}

typedef struct { UINT handle; LUID luid; UINT sources; BOOL precise; } INFO;
typedef struct { UINT count; INFO *infos; } ENUM2;
typedef struct { ULONGLONG filter; UINT count; INFO *infos; } ENUM3;
_Static_assert(sizeof(INFO) == 20 && sizeof(ENUM2) == 16 && sizeof(ENUM3) == 24, "windows.h packs otherwise");

static NT list(INFO *infos, UINT *count, int with_compute_only)
{
    UINT found = 0;
    const BLOCK *adapter;
    for (int n = 0; (adapter = block_named("adapter", n)); n++) {
        const char *type = value_of(adapter, "type", 0);
        if (!with_compute_only && type && number(type) & COMPUTE_ONLY) continue;
        if (infos && found < *count)
            infos[found] = (INFO){ FIRST_HANDLE + generation % 1024 * 1024 + (UINT)n * 4, luid_of(adapter), 1, FALSE };
        found++;
    }
    if (infos && found > *count) return TOO_SMALL;
    *count = found;
    return 0;
}

#define LOCKED(call) NT answer; EnterCriticalSection(&world_lock); look(); answer = (call); LeaveCriticalSection(&world_lock); return answer
static NT WINAPI enum2(ENUM2 *request) { LOCKED(list(request->infos, &request->count, 0)); }
static NT WINAPI enum3(ENUM3 *request) { LOCKED(list(request->infos, &request->count, (int)(request->filter & 1))); }
static NT WINAPI close_adapter(const UINT *handle) { LOCKED(by_handle(*handle) ? 0 : BAD_INPUT); }

static void put_text(WCHAR *out, int room, const char *text)
{
    memset(out, 0, room * sizeof *out);
    MultiByteToWideChar(CP_UTF8, 0, text, (int)strlen(text), out, room - 1);
}

#pragma pack(push, 1)
typedef struct { UINT ordinal, type; WCHAR name[32]; UINT flags; BYTE gpu_mmu, io_mmu; } NODE; /* packed in the header */
#pragma pack(pop)
typedef struct { UINT index; ULONGLONG memory_hz, max_hz, max_oc, bandwidth, pcie; UINT fan, power, temperature; BYTE state; } PERF;
typedef struct { UINT index; ULONGLONG bandwidth, pcie; UINT fan, hottest, warning; } CAPS;
typedef struct { UINT handle, type; void *data; UINT size; } QUERY;
_Static_assert(sizeof(NODE) == 78 && sizeof(PERF) == 64 && sizeof(CAPS) == 40 && sizeof(QUERY) == 24, "layouts");

static NT numbers(QUERY *query, const char *line, int count)
{
    if (!line) return BAD_INPUT;
    if (query->size < 4u * count) return TOO_SMALL;
    for (int i = 0; i < count; i++) ((UINT *)query->data)[i] = (UINT)word(line, i);
    return 0;
}

static NT ask(QUERY *query)
{
    const BLOCK *adapter = by_handle(query->handle);
    const char *text;
    if (!adapter) return REMOVED;
    if (value_of(adapter, "broken", 0)) return FAILED_;
#define NEED(bytes) if (query->size < (bytes)) return TOO_SMALL
    switch (query->type) {
    case 3: { /* GETSEGMENTSIZE */
        ULONGLONG *out = query->data;
        NEED(24);
        if (!value_of(adapter, "dedicated", 0)) return BAD_INPUT;
        out[0] = number(value_of(adapter, "dedicated", 0));
        out[1] = 0;
        text = value_of(adapter, "shared", 0);
        out[2] = text ? number(text) : 0;
        return 0; }
    case 6: return numbers(query, value_of(adapter, "address", 0), 3);
    case 8: /* ADAPTERREGISTRYINFO: four strings of 260 */
        NEED(2080);
        text = value_of(adapter, "name", 0);
        if (!text) return BAD_INPUT;
        memset(query->data, 0, 2080);
        put_text(query->data, 260, text);
        return 0;
    case 13: return numbers(query, value_of(adapter, "wddm", 0), 1);
    case 15: return numbers(query, value_of(adapter, "type", 0), 1);
    case 70: return numbers(query, value_of(adapter, "caps", 0), 1);
    case 25: { /* NODEMETADATA: ordinal in */
        NODE *node = query->data;
        NEED(sizeof *node);
        text = value_of(adapter, "node", (int)(node->ordinal & 0xFFFF));
        if (!text || node->ordinal >> 16) return BAD_INPUT;
        node->type = (UINT)strtoul(text, NULL, 10);
        text = strchr(text, ' ');
        put_text(node->name, 32, text ? text + 1 : "");
        node->flags = 0;
        node->gpu_mmu = 1;
        node->io_mmu = 0;
        return 0; }
    case 31: { /* PHYSICALADAPTERDEVICEIDS: index in */
        UINT *out = query->data;
        NEED(28);
        if (!value_of(adapter, "vendor", 0)) return BAD_INPUT;
        memset(out + 1, 0, 24);
        out[1] = (UINT)number(value_of(adapter, "vendor", 0));
        text = value_of(adapter, "device", 0);
        out[2] = text ? (UINT)number(text) : 0;
        out[6] = 3; /* PCI Express */
        return 0; }
    case 49: { /* KMD_DRIVER_VERSION */
        unsigned part[4] = { 0 };
        NEED(8);
        text = value_of(adapter, "kmd", 0);
        if (!text || sscanf(text, "%u.%u.%u.%u", &part[0], &part[1], &part[2], &part[3]) != 4) return BAD_INPUT;
        *(ULONGLONG *)query->data = (ULONGLONG)part[0] << 48 | (ULONGLONG)part[1] << 32 | part[2] << 16 | part[3];
        return 0; }
    case 62: { /* ADAPTERPERFDATA */
        PERF *perf = query->data;
        NEED(sizeof *perf);
        text = value_of(adapter, "perf", 0);
        if (!text) return BAD_INPUT;
        *perf = (PERF){ 0, word(text, 0), word(text, 0), 0, 0, 0, (UINT)word(text, 1), (UINT)word(text, 2), (UINT)word(text, 3), 0 };
        return 0; }
    case 63: { /* ADAPTERPERFDATA_CAPS */
        CAPS *caps = query->data;
        NEED(sizeof *caps);
        text = value_of(adapter, "max_fan", 0);
        if (!text) return BAD_INPUT;
        *caps = (CAPS){ 0, 0, 0, (UINT)number(text), 0, 0 };
        return 0; }
    }
    return BAD_INPUT;
}
static NT WINAPI query_info(QUERY *query) { LOCKED(ask(query)); }

/* ---- the plug-and-play manager: the n-th adapter with an identity is node n + 1 */

static const BLOCK *by_node(UINT node)
{
    const BLOCK *adapter;
    for (int n = 0; (adapter = block_named("adapter", n)); n++)
        if (value_of(adapter, "identity", 0) && !--node) return adapter;
    return NULL;
}

static UINT identities(WCHAR *out, UINT room) /* UTF-16 units, with the empty string at the end */
{
    UINT used = 0;
    const BLOCK *adapter;
    for (UINT node = 1; (adapter = by_node(node)); node++) {
        WCHAR text[200];
        put_text(text, 200, value_of(adapter, "identity", 0));
        if (out && used + wcslen(text) + 2 <= room) wcscpy(out + used, text);
        used += (UINT)wcslen(text) + 1;
    }
    if (out && used < room) out[used] = 0;
    return used + 1;
}

static int is_display(const WCHAR *class) { return !_wcsnicmp(class, L"{4d36e968", 9); }
static DWORD WINAPI id_size(ULONG *size, const WCHAR *class, ULONG flags)
{ (void)flags; EnterCriticalSection(&world_lock); look(); *size = is_display(class) ? identities(NULL, 0) : 1; LeaveCriticalSection(&world_lock); return 0; }
static DWORD WINAPI id_list(const WCHAR *class, WCHAR *out, ULONG size, ULONG flags)
{
    (void)flags;
    EnterCriticalSection(&world_lock);
    look();
    if (is_display(class)) identities(out, size);
    else out[0] = 0;
    LeaveCriticalSection(&world_lock);
    return 0;
}
static DWORD WINAPI locate(UINT *node, const WCHAR *identity, ULONG flags)
{
    DWORD answer = 0x0D; /* CR_NO_SUCH_DEVNODE */
    const BLOCK *adapter;
    (void)flags;
    EnterCriticalSection(&world_lock);
    look();
    for (UINT n = 1; (adapter = by_node(n)); n++) {
        WCHAR text[200];
        put_text(text, 200, value_of(adapter, "identity", 0));
        if (!_wcsicmp(text, identity)) { *node = n; answer = 0; break; }
    }
    LeaveCriticalSection(&world_lock);
    return answer;
}
typedef struct { GUID category; ULONG id; } KEY;
static DWORD property(UINT node, const KEY *key, BYTE *out, ULONG *size)
{
    const BLOCK *adapter = by_node(node);
    const char *text;
    BYTE data[512] = { 0 };
    ULONG need = 4;
    if (!adapter || key->category.Data1 != 0xa45c254e) return 0x25; /* CR_NO_SUCH_VALUE */
    switch (key->id) {
    case 11:
        if (!(text = value_of(adapter, "driver", 0))) return 0x25;
        put_text((WCHAR *)data, 200, text);
        need = (ULONG)(wcslen((WCHAR *)data) + 1) * 2;
        break;
    case 23: case 30:
        if (!(text = value_of(adapter, "address", 0))) return 0x25;
        *(UINT *)data = key->id == 23 ? (UINT)word(text, 0) : (UINT)(word(text, 1) << 16 | word(text, 2));
        break;
    case 32: /* CM_POWER_DATA: size, state */
        if (!(text = value_of(adapter, "power", 0))) return 0x25;
        need = 56;
        ((UINT *)data)[0] = need;
        ((UINT *)data)[1] = (UINT)number(text);
        break;
    default: return 0x25;
    }
    if (*size < need) { *size = need; return 0x1A; } /* CR_BUFFER_SMALL */
    memcpy(out, data, need);
    *size = need;
    return 0;
}
static DWORD WINAPI get_property(UINT node, const KEY *key, ULONG *type, BYTE *out, ULONG *size, ULONG flags)
{ DWORD answer; (void)flags; *type = 0; EnterCriticalSection(&world_lock); look(); answer = property(node, key, out, size); LeaveCriticalSection(&world_lock); return answer; }

/* ---- in place of Windows' own */

static void redirect(FARPROC from, const void *to) /* mov rax, to; jmp rax */
{
    BYTE *code = (BYTE *)(void *)from;
    DWORD before;
    if (!code || !VirtualProtect(code, 12, PAGE_EXECUTE_READWRITE, &before)) {
        fprintf(stderr, "stand-in: a function cannot be redirected\n");
        return;
    }
    code[0] = 0x48; code[1] = 0xB8;
    memcpy(code + 2, &to, 8);
    code[10] = 0xFF; code[11] = 0xE0;
    VirtualProtect(code, 12, before, &before);
    FlushInstructionCache(GetCurrentProcess(), code, 12);
}

typedef struct { USHORT length, room; char *text; } ANSI;
static LONG (WINAPI *get_procedure)(HMODULE, const ANSI *, ULONG, void **);
static HMODULE gdi32;
static FARPROC WINAPI get_address(HMODULE module, const char *name)
{
    void *found = NULL;
    if ((ULONG_PTR)name >> 16) {
        ANSI text = { (USHORT)strlen(name), (USHORT)(strlen(name) + 1), (char *)name };
        if (module == gdi32 && !strcmp(name, "D3DKMTEnumAdapters3")) {
            int known;
            EnterCriticalSection(&world_lock);
            look();
            known = !value_of(block_named("driver", 0), "no_enum3", 0);
            LeaveCriticalSection(&world_lock);
            if (known) return (FARPROC)(void *)enum3;
        }
        if (!get_procedure(module, &text, 0, &found)) return (FARPROC)found;
    } else if (!get_procedure(module, NULL, (ULONG)(ULONG_PTR)name, &found)) return (FARPROC)found;
    SetLastError(ERROR_PROC_NOT_FOUND);
    return NULL;
}

void adapters_forget(void) { world_forget(); }

void adapters_attach(void)
{
    HMODULE manager;
    InitializeCriticalSection(&world_lock); /* world.h's own copy of this file */
    if (!GetEnvironmentVariableW(L"GPUMON_WORLD", NULL, 0)) return;
    gdi32 = LoadLibraryW(L"gdi32.dll"); /* within DllMain: Wine allows it */
    manager = LoadLibraryW(L"cfgmgr32.dll");
    get_procedure = (void *)GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "LdrGetProcedureAddress");
    redirect(GetProcAddress(gdi32, "D3DKMTEnumAdapters2"), enum2);
    redirect(GetProcAddress(gdi32, "D3DKMTQueryAdapterInfo"), query_info);
    redirect(GetProcAddress(gdi32, "D3DKMTCloseAdapter"), close_adapter);
    redirect(GetProcAddress(manager, "CM_Get_Device_ID_List_SizeW"), id_size);
    redirect(GetProcAddress(manager, "CM_Get_Device_ID_ListW"), id_list);
    redirect(GetProcAddress(manager, "CM_Locate_DevNodeW"), locate);
    redirect(GetProcAddress(manager, "CM_Get_DevNode_PropertyW"), get_property);
    redirect(GetProcAddress(GetModuleHandleW(L"kernel32.dll"), "GetProcAddress"), get_address);
}
