/* A C program as a QS target: a philosopher's records, and a host that pauses it. `example` gives the stream in
 * blocks: hosted.c and bare.c say where they go. */
#include "example.h"
#include "xhist_qs.h"

enum { PHILO_STAT = 100 };

static int philo;
static const char hungry = 0; /* a state, by its address */
static int is_paused;

static uint32_t ticks(void) {
    static uint32_t now;
    return ++now;
}

static void dictionaries(void) {
    xhist_qs_name_user(PHILO_STAT, "PHILO_STAT");
    xhist_qs_name_obj(&philo, "PHILO");
    xhist_qs_name_enum(2, 1, "EATING");
    xhist_qs_name_fun(&hungry, "hungry");
    xhist_qs_name_sig(5, NULL, "EAT");
}

static void command(uint8_t id, uint32_t a, uint32_t b, uint32_t c) {
    (void)a, (void)b, (void)c;
    is_paused = id == 7;
}

static void put_record(int32_t number) {
    XHIST_QS_BEGIN(PHILO_STAT, 1)
        xhist_qs_obj(&record, &philo);
        xhist_qs_enum(&record, 2, 1);
        xhist_qs_i32(&record, 6, number);
        xhist_qs_f32(&record, 2, 0.25f);
        xhist_qs_f64(&record, 1, -1e100);
        xhist_qs_str(&record, is_paused ? "paused" : "serving");
        xhist_qs_sig(&record, 5, &philo);
        xhist_qs_mem(&record, "\x01\xAB", 2);
        xhist_qs_u16(&record, XHIST_QS_HEX, 0xBEEF);
    XHIST_QS_END()
}

int example(void (*put)(const uint8_t *bytes, size_t len)) {
    /* Command 7 in the format of QS: sequence number, record, command, three parameters, sum, end. */
    static const uint8_t packet[] = {1, 1, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xF6, 0x7E};
    uint8_t block[64];
    size_t len;
    xhist_qs_start(1, ticks, dictionaries);
    put_record(1);                      /* off: nothing is sent */
    if (!xhist_qs_switch_group("UA", true) || xhist_qs_switch_group("NONE", true)) {
        return 1;
    }
    put_record(-2);
    for (size_t i = 0; i < sizeof packet; i++) {
        xhist_qs_receive(packet[i], command);
    }
    put_record(3);
    xhist_qs_switch_group("SM", true);
    xhist_qs_switch_group("MP", true);
    xhist_qs_qep_dispatch(1, 5, &philo, &hungry);
    xhist_qs_qep_state_entry(1, &philo, &hungry);
    xhist_qs_qf_mpool_get(65, &philo, 3, 2);
    xhist_qs_sem_take(1, &philo, 1, 0); /* off */
    xhist_qs_assertion("main", 42);
    while ((len = xhist_qs_get_block(block, sizeof block)) > 0) {
        put(block, len);
    }
    return 0;
}
