/* Knows: what a window asks the desktop compositor for. Must not know: windows.
 *
 * Stands in for dwmapi.dll as far as Qt calls it; DwmNoted gives back what DwmSetWindowAttribute was told last. */
#include <windows.h>

#define EXPORT __declspec(dllexport)
#define MOST 256

static struct { HWND window; DWORD attribute; DWORD value; } noted[MOST];
static int count;

EXPORT HRESULT WINAPI DwmSetWindowAttribute(HWND window, DWORD attribute, LPCVOID value, DWORD size)
{
    int at = 0;
    if (size != sizeof(DWORD))
        return E_INVALIDARG;
    while (at < count && (noted[at].window != window || noted[at].attribute != attribute))
        at++;
    if (at == MOST)
        return E_OUTOFMEMORY;
    if (at == count)
        count++;
    noted[at].window = window;
    noted[at].attribute = attribute;
    noted[at].value = *(const DWORD *)value;
    return S_OK;
}

/* The value, or -1 where the attribute was never set. */
EXPORT int WINAPI DwmNoted(HWND window, DWORD attribute)
{
    for (int at = 0; at < count; at++)
        if (noted[at].window == window && noted[at].attribute == attribute)
            return (int)noted[at].value;
    return -1;
}

EXPORT HRESULT WINAPI DwmExtendFrameIntoClientArea(HWND window, const void *margins)
{
    (void)window, (void)margins;
    return S_OK;
}

EXPORT HRESULT WINAPI DwmEnableBlurBehindWindow(HWND window, const void *blur)
{
    (void)window, (void)blur;
    return S_OK;
}

EXPORT BOOL WINAPI DwmDefWindowProc(HWND window, UINT message, WPARAM w, LPARAM l, LRESULT *result)
{
    (void)window, (void)message, (void)w, (void)l, (void)result;
    return FALSE;
}
