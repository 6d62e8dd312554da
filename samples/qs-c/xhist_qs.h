/* The QS target side of xhist for C: records, dictionaries, filters, and the link. See docs/qs-target.md for what each does.
 * Link with libxhist_qs.a, on an operating system or on bare metal. It needs no C library. A record holds
 * XHIST_QS_ELEMENTS bytes of elements, which it has on the stack while it is made. */
#ifndef XHIST_QS_H
#define XHIST_QS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef XHIST_QS_ELEMENTS
#define XHIST_QS_ELEMENTS 480
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Sends the target info and the dictionaries. `clock` and `dictionaries` may be null. The time of the build is that at which
 * this line is compiled; SOURCE_DATE_EPOCH in the environment of the compiler sets it. */
#define xhist_qs_start(max_active_, clock_, dictionaries_) \
    xhist_qs_start_built((max_active_), (clock_), (dictionaries_), __DATE__, __TIME__)
void xhist_qs_start_built(uint8_t max_active, uint32_t (*clock)(void), void (*dictionaries)(void), const char *date,
                          const char *time);

/* Whether a record about this object passes both filters. */
bool xhist_qs_is_on(uint8_t id, uint8_t object);
/* The global filter, by record or by group: SM AO EQ MP TE QF SC SEM MTX U0..U4 UA. False for an unknown group. */
void xhist_qs_switch(uint8_t id, bool on);
bool xhist_qs_switch_group(const char *group, bool on);

/* An application record, 100 to 117 or 124, whose elements are already encoded; XHIST_QS_BEGIN does that. */
void xhist_qs_user(uint8_t id, const uint8_t *elements, size_t len);

/* A predefined record: a letter of QSPY or a number of bytes for each value; a T in front is the time stamp. The calls of
 * xhist_qs_records.h do that. */
void xhist_qs_record(uint8_t id, const char *letters, const uint64_t *values);

/* A failed assertion, and the end of the program: the last calls before a reset. */
void xhist_qs_assertion(const char *module, uint16_t location);
void xhist_qs_exit(int32_t code);

void xhist_qs_name_obj(const void *object, const char *name);
void xhist_qs_name_fun(const void *function, const char *name);
void xhist_qs_name_sig(uint32_t signal, const void *object, const char *name);
void xhist_qs_name_user(uint8_t id, const char *name);
void xhist_qs_name_enum(uint8_t group, uint8_t value, const char *name);

/* The link: bytes for the host, and a byte from it. `command` is called for the host's commands. Each is called from one
 * thread, or from one level of interrupts. */
void xhist_qs_flush(void);
size_t xhist_qs_get_block(uint8_t *into, size_t len);
void xhist_qs_receive(uint8_t byte, void (*command)(uint8_t id, uint32_t a, uint32_t b, uint32_t c));

/* XHIST_QS_BEGIN(100, prio)
 *     xhist_qs_u8(&record, 1, number);
 *     xhist_qs_str(&record, "eating");
 * XHIST_QS_END()
 * Values are computed only if the record is on. The second argument is the width in which a host shows the value; with
 * XHIST_QS_HEX it shows an unsigned one in hexadecimal, with all digits. */
#define XHIST_QS_HEX 15
#define XHIST_QS_BEGIN(id_, object_)                  \
    if (xhist_qs_is_on((id_), (object_))) {           \
        struct xhist_qs_record record = {(id_), false, 0, {0}};
#define XHIST_QS_END()                                         \
        xhist_qs_user(record.id, record.bytes, record.len);    \
    }

struct xhist_qs_record {
    uint8_t id;
    bool is_cut;
    size_t len;
    uint8_t bytes[XHIST_QS_ELEMENTS];
};

static inline void xhist_qs_copy(void *to, const void *from, size_t len) {
    for (size_t i = 0; i < len; i++) {
        ((unsigned char *)to)[i] = ((const unsigned char *)from)[i];
    }
}

/* An element that does not fit is left out, and so are those behind it. */
static inline void xhist_qs_element(struct xhist_qs_record *record, uint8_t format, uint64_t value, size_t size) {
    if (record->is_cut || record->len + 1 + size > sizeof record->bytes) {
        record->is_cut = true;
        return;
    }
    record->bytes[record->len++] = format;
    for (size_t i = 0; i < size; i++) {
        record->bytes[record->len++] = (uint8_t)(value >> (8 * i));
    }
}

#define XHIST_QS_NUMBER(name_, type_, code_)                                                          \
    static inline void name_(struct xhist_qs_record *record, unsigned width, type_ value) {           \
        xhist_qs_element(record, (uint8_t)(((width) << 4) | (code_)), (uint64_t)value, sizeof value); \
    }
XHIST_QS_NUMBER(xhist_qs_i8, int8_t, 0)
XHIST_QS_NUMBER(xhist_qs_u8, uint8_t, 1)
XHIST_QS_NUMBER(xhist_qs_i16, int16_t, 2)
XHIST_QS_NUMBER(xhist_qs_u16, uint16_t, 3)
XHIST_QS_NUMBER(xhist_qs_i32, int32_t, 4)
XHIST_QS_NUMBER(xhist_qs_u32, uint32_t, 5)
XHIST_QS_NUMBER(xhist_qs_i64, int64_t, 13)
XHIST_QS_NUMBER(xhist_qs_u64, uint64_t, 14)
XHIST_QS_NUMBER(xhist_qs_hex, uint32_t, 15)
#undef XHIST_QS_NUMBER

/* Floating-point numbers; `digits` behind the point. */
static inline void xhist_qs_f32(struct xhist_qs_record *record, unsigned digits, float value) {
    uint32_t bits;
    xhist_qs_copy(&bits, &value, sizeof bits);
    xhist_qs_element(record, (uint8_t)((digits << 4) | 6), bits, sizeof bits);
}

static inline void xhist_qs_f64(struct xhist_qs_record *record, unsigned digits, double value) {
    uint64_t bits;
    xhist_qs_copy(&bits, &value, sizeof bits);
    xhist_qs_element(record, (uint8_t)((digits << 4) | 7), bits, sizeof bits);
}

/* The name of an object or a function, by its address. */
static inline void xhist_qs_obj(struct xhist_qs_record *record, const void *object) {
    xhist_qs_element(record, 11, (uint64_t)(uintptr_t)object, sizeof object);
}

static inline void xhist_qs_fun(struct xhist_qs_record *record, const void *function) {
    xhist_qs_element(record, 12, (uint64_t)(uintptr_t)function, sizeof function);
}

static inline void xhist_qs_enum(struct xhist_qs_record *record, unsigned group, uint8_t value) {
    xhist_qs_element(record, (uint8_t)((8 | (group & 7)) << 4), value, 1);
}

/* A text, with its zero. */
static inline void xhist_qs_str(struct xhist_qs_record *record, const char *text) {
    size_t len = 1;
    while (text[len - 1] != 0) {
        len++;
    }
    if (record->is_cut || record->len + 1 + len > sizeof record->bytes) {
        record->is_cut = true;
        return;
    }
    record->bytes[record->len++] = 8;
    xhist_qs_copy(record->bytes + record->len, text, len);
    record->len += len;
}

/* Up to 255 bytes of memory, in hexadecimal. */
static inline void xhist_qs_mem(struct xhist_qs_record *record, const void *bytes, uint8_t len) {
    if (record->is_cut || record->len + 2 + len > sizeof record->bytes) {
        record->is_cut = true;
        return;
    }
    record->bytes[record->len++] = 9;
    record->bytes[record->len++] = len;
    xhist_qs_copy(record->bytes + record->len, bytes, len);
    record->len += len;
}

/* Bytes of a signal and of an object's address, as the library was compiled. */
extern const uint8_t XHIST_QS_SIGNAL_BYTES[2];

/* The name of a signal, of that object. */
static inline void xhist_qs_sig(struct xhist_qs_record *record, uint32_t signal, const void *object) {
    size_t of_signal = XHIST_QS_SIGNAL_BYTES[0], of_object = XHIST_QS_SIGNAL_BYTES[1];
    if (record->is_cut || record->len + 1 + of_signal + of_object > sizeof record->bytes) {
        record->is_cut = true;
        return;
    }
    xhist_qs_element(record, 10, signal, of_signal);
    for (size_t i = 0; i < of_object; i++) {
        record->bytes[record->len++] = (uint8_t)((uint64_t)(uintptr_t)object >> (8 * i));
    }
}

static inline uint64_t xhist_qs_address(const void *place) {
    return (uint64_t)(uintptr_t)place;
}

#include "xhist_qs_records.h"

#ifdef __cplusplus
}
#endif
#endif
