/* What example.c has. */
#include <stddef.h>
#include <stdint.h>

/* Returns 0 if all went well. */
int example(void (*put)(const uint8_t *bytes, size_t len));
