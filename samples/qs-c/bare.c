/* On a Cortex-M: the start of the core, and the stream into a file of the host by semihosting. */
#include "example.h"

extern uint32_t stack_top, data_load, data_start, data_end, bss_start, bss_end;

static uintptr_t host_file;

static uintptr_t host(uintptr_t operation, const void *block) {
    register uintptr_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = block;
    __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

static void put(const uint8_t *bytes, size_t len) {
    const uintptr_t block[] = {host_file, (uintptr_t)bytes, len};
    host(5, block); /* SYS_WRITE */
}

void start(void) {
    static const char name[] = "stream.qs";
    for (uint32_t *from = &data_load, *to = &data_start; to < &data_end;) {
        *to++ = *from++;
    }
    for (uint32_t *to = &bss_start; to < &bss_end;) {
        *to++ = 0;
    }
    const uintptr_t open[] = {(uintptr_t)name, 5, sizeof name - 1}; /* SYS_OPEN, "wb" */
    host_file = host(1, open);
    int failed = example(put);
    host(2, &host_file);                                    /* SYS_CLOSE */
    host(0x18, (const void *)(failed ? 0x20023 : 0x20026)); /* SYS_EXIT */
    for (;;) {
    }
}

static void stop(void) {
    host(0x18, (const void *)0x20023);
}

/* The stack, the reset, and the faults. */
__attribute__((section(".vectors"), used)) static void (*const vectors[])(void) = {
    (void (*)(void))&stack_top, start, stop, stop, stop, stop, stop,
};
