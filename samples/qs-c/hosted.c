/* On an operating system the stream goes to standard output. */
#include <stdio.h>

#include "example.h"

static void put(const uint8_t *bytes, size_t len) {
    fwrite(bytes, 1, len, stdout);
}

int main(void) {
    return example(put);
}
