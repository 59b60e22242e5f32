/* Knows: nvml.dll, as far as GPUMon calls it. Must not know: Windows' own view of the cards.
 *
 * Lines of [driver]:  version = 581.42     cuda = 13000
 * Lines of [gpu]:     a key for each figure, see the tables below; a figure without a line is NOT_SUPPORTED
 *   name, uuid, vbios = text               pci = 00000000:01:00.0
 *   memory = 24564MiB 2048MiB 400MiB       total, used, reserved
 *   utilization = 97 55                    GPU, memory
 *   model = 0                              0 WDDM, 1 TCC, 2 MCDM
 *   process = compute 7777 6GiB            or graphics; "na": the figure that WDDM does not give
 *   sample = 7777 92 50 0 3                per-process utilization: sm, memory, encoder, decoder
 * Lines of both:
 *   error nvmlDeviceGetFanSpeed = 4        the function's return code (* for all of this GPU)
 *   crash nvmlDeviceGetPowerUsage          the call reads address 0
 *   end nvmlDeviceGetPowerUsage            the call ends the process, as a fault does that no handler can catch
 *   hang nvmlDeviceGetPowerUsage           the call never returns
 * Without [driver] nvmlInit answers DRIVER_NOT_LOADED. Layouts and return codes: nvml.h (NVIDIA), nothing was compared
 * with a real driver.
 */
#include "world.h"

typedef int R;
enum { OK, UNINITIALIZED, INVALID_ARGUMENT, NOT_SUPPORTED, NOT_FOUND = 6, TOO_SMALL, DRIVER_NOT_LOADED = 9, VERSION_MISMATCH = 25 };
static int is_started;

static R scripted(const BLOCK *block, const char *function)
{
    char key[96];
    const char *code;
    snprintf(key, sizeof key, "hang %s", function);
    if (value_of(block, key, 0)) { LeaveCriticalSection(&world_lock); Sleep(INFINITE); }
    snprintf(key, sizeof key, "crash %s", function);
    if (value_of(block, key, 0)) { LeaveCriticalSection(&world_lock); *(volatile int *)0 = 0; }
    snprintf(key, sizeof key, "end %s", function);
    if (value_of(block, key, 0)) TerminateProcess(GetCurrentProcess(), 0xC0000409); /* STATUS_STACK_BUFFER_OVERRUN */
    snprintf(key, sizeof key, "error %s", function);
    code = value_of(block, key, 0);
    if (!code) code = value_of(block, "error *", 0);
    return code ? (R)number(code) : OK;
}

/* A handle is the number of the GPU, counted from 1: it stays right when the file is read again. */
static const BLOCK *of(const void *handle) { return block_named("gpu", (int)(ULONG_PTR)handle - 1); }
static R enter(const BLOCK *block, const char *function)
{
    if (!is_started) return UNINITIALIZED;
    if (!block_named("driver", 0)) return DRIVER_NOT_LOADED;
    return block ? scripted(block, function) : INVALID_ARGUMENT;
}
static R text(const BLOCK *block, const char *key, char *out, unsigned size)
{
    const char *value = value_of(block, key, 0);
    if (!value) return NOT_SUPPORTED;
    if (strlen(value) >= size) return TOO_SMALL;
    strcpy(out, value);
    return OK;
}
static R part(const BLOCK *block, const char *key, int n, unsigned *out)
{
    const char *value = value_of(block, key, 0);
    if (!value) return NOT_SUPPORTED;
    *out = (unsigned)word(value, n);
    return OK;
}

#define CALL(block, name, work) R answer; EnterCriticalSection(&world_lock); world_look(); answer = enter(block, name); \
    if (!answer) { answer = (work); } LeaveCriticalSection(&world_lock); return answer
#define SYSTEM(name, key) API R name(char *out, unsigned size) { CALL(block_named("driver", 0), #name, text(block_named("driver", 0), key, out, size)); }
#define TEXT_(name, key) API R name(void *h, char *out, unsigned size) { CALL(of(h), #name, text(of(h), key, out, size)); }
#define UINT_(name, key) API R name(void *h, unsigned *out) { CALL(of(h), #name, part(of(h), key, 0, out)); }
#define BUSY(name, key) API R name(void *h, unsigned *out, unsigned *period) { *period = 167000; CALL(of(h), #name, part(of(h), key, 0, out)); }

static R start(void)
{
    R code;
    EnterCriticalSection(&world_lock);
    world_look();
    code = block_named("driver", 0) ? scripted(block_named("driver", 0), "nvmlInit_v2") : DRIVER_NOT_LOADED;
    if (!code) is_started++;
    LeaveCriticalSection(&world_lock);
    return code;
}
API R nvmlInit_v2(void) { return start(); }
API R nvmlInitWithFlags(unsigned flags) { (void)flags; return start(); }
API R nvmlShutdown(void) { if (!is_started) return UNINITIALIZED; is_started--; return OK; }
SYSTEM(nvmlSystemGetDriverVersion, "version")
API R nvmlSystemGetCudaDriverVersion_v2(int *out) { CALL(block_named("driver", 0), "nvmlSystemGetCudaDriverVersion_v2", part(block_named("driver", 0), "cuda", 0, (unsigned *)out)); }

static R count(unsigned *out) { for (*out = 0; block_named("gpu", (int)*out); ++*out) {} return OK; }
API R nvmlDeviceGetCount_v2(unsigned *out) { CALL(block_named("driver", 0), "nvmlDeviceGetCount_v2", count(out)); }
static R give(unsigned index, void **out) { *out = (void *)(ULONG_PTR)(index + 1); return OK; }
API R nvmlDeviceGetHandleByIndex_v2(unsigned index, void **out) { CALL(block_named("gpu", (int)index), "nvmlDeviceGetHandleByIndex_v2", give(index, out)); }

TEXT_(nvmlDeviceGetName, "name")
TEXT_(nvmlDeviceGetUUID, "uuid")
TEXT_(nvmlDeviceGetVbiosVersion, "vbios")
UINT_(nvmlDeviceGetArchitecture, "architecture")
UINT_(nvmlDeviceGetNumGpuCores, "cores")
UINT_(nvmlDeviceGetMemoryBusWidth, "bus_width")
UINT_(nvmlDeviceGetPowerUsage, "power")
UINT_(nvmlDeviceGetEnforcedPowerLimit, "power_limit")
UINT_(nvmlDeviceGetPowerManagementDefaultLimit, "power_limit")
UINT_(nvmlDeviceGetPerformanceState, "pstate")
UINT_(nvmlDeviceGetFanSpeed, "fan")
UINT_(nvmlDeviceGetCurrPcieLinkGeneration, "pcie_gen")
UINT_(nvmlDeviceGetCurrPcieLinkWidth, "pcie_width")
UINT_(nvmlDeviceGetDisplayActive, "display_active")
BUSY(nvmlDeviceGetEncoderUtilization, "encoder")
BUSY(nvmlDeviceGetDecoderUtilization, "decoder")
API R nvmlDeviceGetTemperature(void *h, unsigned sensor, unsigned *out) { CALL(of(h), "nvmlDeviceGetTemperature", sensor ? INVALID_ARGUMENT : part(of(h), "temperature", 0, out)); }
API R nvmlDeviceGetClockInfo(void *h, unsigned type, unsigned *out) { CALL(of(h), "nvmlDeviceGetClockInfo", part(of(h), "clocks", (int)type, out)); }
API R nvmlDeviceGetCurrentClocksEventReasons(void *h, ULONGLONG *out) { unsigned bits = 0; *out = 0; CALL(of(h), "nvmlDeviceGetCurrentClocksEventReasons", (part(of(h), "throttle", 0, &bits) ? NOT_SUPPORTED : (*out = bits, OK))); }
static R rates(const BLOCK *gpu, unsigned *out) { R code = part(gpu, "utilization", 0, out); return code ? code : part(gpu, "utilization", 1, out + 1); }
API R nvmlDeviceGetUtilizationRates(void *h, unsigned *out) { CALL(of(h), "nvmlDeviceGetUtilizationRates", rates(of(h), out)); }
static R model(const BLOCK *gpu, unsigned *now, unsigned *pending) { R code = part(gpu, "model", 0, now); if (!code) *pending = *now; return code; }
API R nvmlDeviceGetDriverModel_v2(void *h, unsigned *now, unsigned *pending) { CALL(of(h), "nvmlDeviceGetDriverModel_v2", model(of(h), now, pending)); }
static R capability(const BLOCK *gpu, int *major, int *minor)
{ const char *value = value_of(gpu, "capability", 0); return value && sscanf(value, "%d.%d", major, minor) == 2 ? OK : NOT_SUPPORTED; }
API R nvmlDeviceGetCudaComputeCapability(void *h, int *major, int *minor) { CALL(of(h), "nvmlDeviceGetCudaComputeCapability", capability(of(h), major, minor)); }

typedef struct { unsigned version; ULONGLONG total, reserved, free, used; } MEMORY2;
typedef struct { ULONGLONG total, free, used; } MEMORY;
_Static_assert(sizeof(MEMORY2) == 40 && sizeof(MEMORY) == 24, "nvmlMemory_t");
static R memory2(const BLOCK *gpu, MEMORY2 *out)
{
    const char *value = value_of(gpu, "memory", 0);
    if (!value) return NOT_SUPPORTED;
    if (out->version != (sizeof *out | 2u << 24)) return VERSION_MISMATCH;
    out->total = word(value, 0);
    out->used = word(value, 1);
    out->reserved = word(value, 2);
    out->free = out->total - out->used - out->reserved;
    return OK;
}
API R nvmlDeviceGetMemoryInfo_v2(void *h, MEMORY2 *out) { CALL(of(h), "nvmlDeviceGetMemoryInfo_v2", memory2(of(h), out)); }
static R memory1(const BLOCK *gpu, MEMORY *out)
{
    MEMORY2 all = { .version = sizeof all | 2u << 24 };
    R code = memory2(gpu, &all);
    if (!code) *out = (MEMORY){ all.total, all.free, all.used + all.reserved }; /* v1 counts what is reserved as used */
    return code;
}
API R nvmlDeviceGetMemoryInfo(void *h, MEMORY *out) { CALL(of(h), "nvmlDeviceGetMemoryInfo", memory1(of(h), out)); }

typedef struct { char legacy[16]; unsigned domain, bus, device, id, subsystem; char bus_id[32]; } PCI;
_Static_assert(sizeof(PCI) == 68, "nvmlPciInfo_t");
static R pci(const BLOCK *gpu, PCI *out)
{
    const char *value = value_of(gpu, "pci", 0);
    if (!value) return NOT_SUPPORTED;
    memset(out, 0, sizeof *out);
    if (sscanf(value, "%x:%x:%x", &out->domain, &out->bus, &out->device) != 3) return INVALID_ARGUMENT;
    snprintf(out->bus_id, 32, "%08X:%02X:%02X.0", out->domain, out->bus, out->device);
    return OK;
}
API R nvmlDeviceGetPciInfo_v3(void *h, PCI *out) { CALL(of(h), "nvmlDeviceGetPciInfo_v3", pci(of(h), out)); }

typedef struct { unsigned pid; ULONGLONG used; unsigned gpu_instance, compute_instance; } PROCESS;
_Static_assert(sizeof(PROCESS) == 24, "nvmlProcessInfo_t");
static R processes(const BLOCK *gpu, const char *kind, unsigned *count_, PROCESS *out)
{
    unsigned found = 0;
    const char *value;
    for (int n = 0; (value = value_of(gpu, "process", n)); n++) {
        size_t size = strlen(kind);
        if (strncmp(value, kind, size) || value[size] != ' ') continue;
        if (found < *count_ && out) out[found] = (PROCESS){ (unsigned)word(value, 1), word(value, 2), ~0u, ~0u };
        found++;
    }
    if (found > *count_ || (found && !out)) { *count_ = found; return TOO_SMALL; }
    *count_ = found;
    return OK;
}
API R nvmlDeviceGetComputeRunningProcesses_v3(void *h, unsigned *n, PROCESS *out) { CALL(of(h), "nvmlDeviceGetComputeRunningProcesses_v3", processes(of(h), "compute", n, out)); }
API R nvmlDeviceGetGraphicsRunningProcesses_v3(void *h, unsigned *n, PROCESS *out) { CALL(of(h), "nvmlDeviceGetGraphicsRunningProcesses_v3", processes(of(h), "graphics", n, out)); }

typedef struct { unsigned pid; ULONGLONG stamp; unsigned sm, memory, encoder, decoder; } SAMPLE;
_Static_assert(sizeof(SAMPLE) == 32, "nvmlProcessUtilizationSample_t");
static R samples(const BLOCK *gpu, SAMPLE *out, unsigned *count_)
{
    unsigned found = 0;
    const char *value;
    FILETIME now;
    GetSystemTimeAsFileTime(&now);
    for (int n = 0; (value = value_of(gpu, "sample", n)); n++, found++)
        if (out && found < *count_)
            out[found] = (SAMPLE){ (unsigned)word(value, 0), (((ULONGLONG)now.dwHighDateTime << 32 | now.dwLowDateTime) - 116444736000000000ULL) / 10,
                                   (unsigned)word(value, 1), (unsigned)word(value, 2), (unsigned)word(value, 3), (unsigned)word(value, 4) };
    if (!found) return NOT_FOUND;
    if (found > *count_ || !out) { *count_ = found; return TOO_SMALL; }
    *count_ = found;
    return OK;
}
API R nvmlDeviceGetProcessUtilization(void *h, SAMPLE *out, unsigned *n, ULONGLONG since) { (void)since; CALL(of(h), "nvmlDeviceGetProcessUtilization", samples(of(h), out, n)); }
API void gpumon_forget(void) { world_forget(); }

BOOL WINAPI DllMain(HINSTANCE instance, DWORD reason, LPVOID reserved)
{
    (void)reserved;
    if (reason == DLL_PROCESS_ATTACH) {
        InitializeCriticalSection(&world_lock);
        DisableThreadLibraryCalls(instance);
    }
    return TRUE;
}
