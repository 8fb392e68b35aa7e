// Lays a page that nobody may touch where the next mapping would have gone. What lies behind a mapping of the program is
// then another than usual, and a program that goes there by mistake does something else.

#include <sys/mman.h>
#include <sys/syscall.h>

static void fence(void) {
    register long flags __asm__("r10") = MAP_PRIVATE | MAP_ANONYMOUS;
    register long file __asm__("r8") = -1;
    register long offset __asm__("r9") = 0;
    long result = SYS_mmap;
    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"(0), "S"(4096), "d"(PROT_NONE), "r"(flags), "r"(file), "r"(offset)
                     : "rcx", "r11", "memory");
}

__attribute__((section(".preinit_array"), used)) static void (*const first)(void) = fence;
