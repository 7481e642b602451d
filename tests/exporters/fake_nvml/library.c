/* A libnvidia-ml.so.1 whose every answer is written into a file beside it, by a test or by a demonstration, while it runs.
 *
 * The file is mapped by whoever answers and whoever writes (the fake_* functions at the end), which may be one process or
 * two. An answer is found by (function, device, keys); what is not written is NOT_SUPPORTED, as on a real card. An answer
 * may be a value, a code, a wait for ever, a delay, or a passing one that is used up. Every call is counted.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { OK = 0, UNINITIALIZED = 1, INVALID = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, TOO_SMALL = 7, TIMEOUT = 10,
       LIBRARY_NOT_FOUND = 12, VERSION = 25 };
enum { SLOTS = 128, ANSWERS = 16384, BYTES_INSIDE = 112, BYTES_MAX = 6144, LONG_ONES = 128, EVENTS = 256, FUNCTIONS_MAX = 128,
       ANY_FUNCTION = FUNCTIONS_MAX };
#define ANY (-1)

enum {
#define FUNCTION(name, shape, format) ID_##name,
#include "functions.def"
#undef FUNCTION
    FUNCTIONS
};

struct answer {
    int32_t used, function, device;
    int64_t keys[3];
    int32_t passing;    /* looked at before lasting ones, and gone after `times` uses */
    int32_t skip, times;
    int32_t code, blocks, delay_ms;
    uint32_t size;
    int32_t elsewhere;  /* which of the long ones; -1: `inside` has it */
    unsigned char inside[BYTES_INSIDE];
};

struct event { int32_t slot; uint64_t type, number; uint32_t gpu_instance, compute_instance; };

struct state {
    uint32_t magic, initialised, generation, instant;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t version, sample_order, in_flight, samples_held;
    int32_t visible[SLOTS], visible_count, slots;
    struct { char uuid[96]; int32_t parent, mig_index; uint64_t registered; } slot[SLOTS];
    struct event events[EVENTS];
    uint32_t event_first, event_count;
    uint64_t calls[FUNCTIONS_MAX][SLOTS + 1];
    struct answer answers[ANSWERS];
    int32_t long_used[LONG_ONES];
    unsigned char longs[LONG_ONES][BYTES_MAX];
};

struct sample { int32_t slot; int64_t gpu_instance; uint64_t order; };

static struct state *state;

int fake_open(const char *path, int fresh) {
    int file = open(path, O_RDWR | (fresh ? O_CREAT | O_TRUNC : 0), 0644);
    if (file < 0 || (fresh && ftruncate(file, sizeof(struct state)) != 0)) return errno;
    struct state *mapped = mmap(NULL, sizeof(struct state), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (mapped == MAP_FAILED) return errno;
    if (fresh) {
        pthread_mutexattr_t lock;
        pthread_condattr_t changed;
        pthread_mutexattr_init(&lock);
        pthread_mutexattr_setpshared(&lock, PTHREAD_PROCESS_SHARED);
        pthread_mutex_init(&mapped->lock, &lock);
        pthread_condattr_init(&changed);
        pthread_condattr_setpshared(&changed, PTHREAD_PROCESS_SHARED);
        pthread_condattr_setclock(&changed, CLOCK_MONOTONIC);
        pthread_cond_init(&mapped->changed, &changed);
        mapped->generation = 1;
        mapped->magic = 0x6e766d6c;
    }
    state = mapped;  /* an older one stays mapped: a call may still wait in it */
    return OK;
}

static const unsigned char *bytes_of(const struct answer *answer) {
    return answer->elsewhere < 0 ? answer->inside : state->longs[answer->elsewhere];
}

static void drop(struct answer *answer) {
    if (answer->used == 1 && answer->elsewhere >= 0) state->long_used[answer->elsewhere] = 0;
    answer->used = 2;  /* not 0: others may lie behind it */
}

static int ready(void) {
    const char *path = getenv("FAKE_NVML_STATE");
    return state != NULL || (path != NULL && fake_open(path, 0) == OK);
}

static void wait_ms(long ms) {  /* with the lock held; wakes up early if anything is written */
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += ms % 1000 * 1000000;
    if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
    pthread_cond_timedwait(&state->changed, &state->lock, &until);
}

static uint32_t place_of(int function, int device, const int64_t *keys) {
    uint64_t hash = (uint64_t)function * 1000003 + (uint32_t)device;
    for (int i = 0; i < 3; i++) hash = (hash ^ (uint64_t)keys[i]) * 0x9E3779B97F4A7C15ull, hash ^= hash >> 29;
    return hash % ANSWERS;
}

/* The answer that was written for exactly these, or the first free place for it (not used 1), or NULL if all is full. */
static struct answer *at(int function, int device, const int64_t *keys, int passing) {
    uint32_t place = place_of(function, device, keys);
    struct answer *freed = NULL;
    for (int tries = 0; tries < ANSWERS; tries++, place = (place + 1) % ANSWERS) {
        struct answer *found = &state->answers[place];
        if (!found->used) return freed ? freed : found;
        if (found->used == 2 && freed == NULL) freed = found;
        if (found->used == 1 && found->function == function && found->device == device && found->passing == passing &&
            memcmp(found->keys, keys, sizeof found->keys) == 0)
            return found;
    }
    return freed;
}

static struct answer *written(int function, int device, const int64_t *keys, int passing) {
    struct answer *found = at(function, device, keys, passing);
    return found != NULL && found->used == 1 ? found : NULL;
}

/* From the most particular to the most general; on a device before on any; the passing before the lasting. */
static struct answer *look(int function, int device, const int64_t *keys) {
    static __thread struct answer used_up;
    static const int64_t any[3] = {ANY, ANY, ANY};
    int64_t first[3] = {keys[0], ANY, ANY};
    for (int passing = 1; passing >= 0; passing--) {
        for (int whose = device == ANY; whose < 2; whose++) {
            int owner = whose ? ANY : device;
            struct answer *found = written(ANY_FUNCTION, owner, any, passing);
            if (found == NULL) found = written(function, owner, keys, passing);
            if (found == NULL) found = written(function, owner, first, passing);
            if (found == NULL && function != ID_field && function != ID_gpm) found = written(function, owner, any, passing);
            if (found == NULL) continue;
            if (!passing) return found;
            if (found->skip > 0) { found->skip--; continue; }
            if (--found->times <= 0) {
                used_up = *found;  /* a passing answer is short, or a code */
                drop(found);
                return &used_up;
            }
            return found;
        }
    }
    return NULL;
}

/* What to answer, after all waiting that it asks for; with the lock held before and after. */
static struct answer *answer_of(int function, int device, const int64_t *keys) {
    for (;;) {
        struct answer *found = look(function, device, keys);
        if (found == NULL) return NULL;
        if (found->delay_ms > 0) {
            long left = found->delay_ms;
            struct timespec nap = {left / 1000, left % 1000 * 1000000};
            pthread_mutex_unlock(&state->lock);
            nanosleep(&nap, NULL);
            pthread_mutex_lock(&state->lock);
            found = look(function, device, keys);
            if (found == NULL) return NULL;
        }
        if (!found->blocks) return found;
        uint64_t seen = state->version;
        state->in_flight++;
        while (state->version == seen) pthread_cond_wait(&state->changed, &state->lock);
        state->in_flight--;
    }
}

static int slot_of(const void *handle) {
    uintptr_t number = (uintptr_t)handle;
    if (number < 0x100000) return ANY;
    number -= 0x100000;
    int slot = number % 0x1000;
    return number / 0x1000 == state->generation % 0x1000 && slot < state->slots ? slot : ANY;
}

static void *handle_of(int slot) {
    return (void *)(uintptr_t)(0x100000 + (state->generation % 0x1000) * 0x1000 + slot);
}

static void count_call(int function, int slot) { state->calls[function][slot < 0 ? SLOTS : slot]++; }

static int begin(int function, const void *handle, int *slot) {
    if (!ready()) return UNINITIALIZED;
    pthread_mutex_lock(&state->lock);
    *slot = handle == NULL ? ANY : slot_of(handle);
    count_call(function, *slot);
    if (!state->initialised) return UNINITIALIZED;
    return handle != NULL && *slot == ANY ? INVALID : OK;
}

static int end(int code) {
    if (state != NULL) pthread_mutex_unlock(&state->lock);
    return code;
}

static size_t width_of(char letter) { return letter == 'Q' || letter == 'd' ? 8 : 4; }

static int numbers(int function, const char *format, const void *handle, int64_t a, int64_t b, int64_t c, void **outs) {
    int slot, code = begin(function, handle, &slot);
    if (code != OK) return end(code);
    struct answer *found = answer_of(function, slot, (int64_t[]){a, b, c});
    if (found == NULL) return end(NOT_SUPPORTED);
    if (found->code != OK) return end(found->code);
    size_t from = 0;
    for (int i = 0; format[i]; i++) {
        size_t width = format[i] == 'r' ? found->size : width_of(format[i]);
        memcpy(outs[i], bytes_of(found) + from, width);
        from += width;
    }
    return end(OK);
}

static int text(int function, const void *handle, int system, char *out, unsigned length) {
    int slot, code = begin(function, handle, &slot);
    if (code != OK) return end(code);
    (void)system;
    struct answer *found = answer_of(function, slot, (int64_t[]){ANY, ANY, ANY});
    if (found == NULL) return end(NOT_SUPPORTED);
    if (found->code != OK) return end(found->code);
    if (found->size + 1 > length) return end(TOO_SMALL);
    memcpy(out, bytes_of(found), found->size);
    out[found->size] = 0;
    return end(OK);
}

static int whole(int function, const void *handle, unsigned char *out) {
    int slot, code = begin(function, handle, &slot);
    if (code != OK) return end(code);
    int64_t key = function == ID_nvmlDeviceGetTemperatureV ? (int64_t)((uint32_t *)out)[1] : ANY;
    struct answer *found = answer_of(function, slot, (int64_t[]){key, ANY, ANY});
    if (found == NULL) return end(NOT_SUPPORTED);
    if (found->code != OK) return end(found->code);
    if (memcmp(out, bytes_of(found), 4) != 0) return end(VERSION);
    memcpy(out, bytes_of(found), found->size);
    return end(OK);
}

static int list(int function, const void *handle, unsigned *count, void *out) {
    enum { ROW = 24 };
    int slot, code = begin(function, handle, &slot);
    if (code != OK) return end(code);
    struct answer *found = answer_of(function, slot, (int64_t[]){ANY, ANY, ANY});
    if (found == NULL) return end(NOT_SUPPORTED);
    if (found->code != OK) return end(found->code);
    unsigned rows = found->size / ROW;
    if (*count < rows || (out == NULL && rows > 0)) { *count = rows; return end(TOO_SMALL); }
    *count = rows;
    if (rows > 0) memcpy(out, bytes_of(found), rows * ROW);
    return end(OK);
}

#define K0_O1(n, f) int n(void *d, void *x) { return numbers(ID_##n, f, d, ANY, ANY, ANY, (void *[]){x}); }
#define K0_O2(n, f) int n(void *d, void *x, void *y) { return numbers(ID_##n, f, d, ANY, ANY, ANY, (void *[]){x, y}); }
#define K0_O4(n, f) int n(void *d, void *x, void *y, void *z, void *w) \
    { return numbers(ID_##n, f, d, ANY, ANY, ANY, (void *[]){x, y, z, w}); }
#define K1_O1(n, f) int n(void *d, unsigned a, void *x) { return numbers(ID_##n, f, d, a, ANY, ANY, (void *[]){x}); }
#define K2_O1(n, f) int n(void *d, unsigned a, unsigned b, void *x) { return numbers(ID_##n, f, d, a, b, ANY, (void *[]){x}); }
#define K3_O1(n, f) int n(void *d, unsigned a, unsigned b, unsigned c, void *x) \
    { return numbers(ID_##n, f, d, a, b, c, (void *[]){x}); }
#define TEXT(n, f) int n(void *d, char *x, unsigned length) { return text(ID_##n, d, 0, x, length); }
#define SYSTEM_TEXT(n, f) int n(char *x, unsigned length) { return text(ID_##n, NULL, 1, x, length); }
#define SYSTEM_O1(n, f) int n(void *x) { return numbers(ID_##n, f, NULL, ANY, ANY, ANY, (void *[]){x}); }
#define WHOLE(n, f) int n(void *d, void *x) { return whole(ID_##n, d, x); }
#define LIST(n, f) int n(void *d, unsigned *count, void *x) { return list(ID_##n, d, count, x); }
#define NONE(n, f)
#define FUNCTION(name, shape, format) shape(name, format)
#include "functions.def"
#undef FUNCTION

/* A call that has no output of its own, or another one than the table can say: OK, or the code that was written. */
static int scripted(int function, int slot, int64_t key) {
    struct answer *found = answer_of(function, slot, (int64_t[]){key, ANY, ANY});
    return found == NULL ? OK : found->code;
}

int nvmlInitWithFlags(unsigned flags) {
    (void)flags;
    if (!ready()) return LIBRARY_NOT_FOUND;
    pthread_mutex_lock(&state->lock);
    count_call(ID_nvmlInitWithFlags, ANY);
    int code = scripted(ID_nvmlInitWithFlags, ANY, ANY);
    if (code == OK && state->initialised++ == 0) state->generation++;
    return end(code);
}

int nvmlShutdown(void) {
    int slot, code = begin(ID_nvmlShutdown, NULL, &slot);
    if (code == OK) code = scripted(ID_nvmlShutdown, ANY, ANY);
    if (code == OK) state->initialised--;
    return end(code);
}

const char *nvmlErrorString(int code) { (void)code; return "an error of the fake library"; }

int nvmlSystemGetProcessName(unsigned pid, char *out, unsigned length) {
    int slot, code = begin(ID_nvmlSystemGetProcessName, NULL, &slot);
    if (code != OK) return end(code);
    struct answer *found = answer_of(ID_nvmlSystemGetProcessName, ANY, (int64_t[]){pid, ANY, ANY});
    if (found == NULL || found->code != OK) return end(found == NULL ? NOT_FOUND : found->code);
    if (found->size + 1 > length) return end(TOO_SMALL);
    memcpy(out, bytes_of(found), found->size);
    out[found->size] = 0;
    return end(OK);
}

int nvmlDeviceGetCount_v2(unsigned *count) {
    int slot, code = begin(ID_nvmlDeviceGetCount_v2, NULL, &slot);
    if (code == OK) code = scripted(ID_nvmlDeviceGetCount_v2, ANY, ANY);
    if (code == OK) *count = state->visible_count;
    return end(code);
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **out) {
    int slot, code = begin(ID_nvmlDeviceGetHandleByIndex_v2, NULL, &slot);
    if (code == OK && (int)index >= state->visible_count) code = INVALID;
    if (code == OK) code = scripted(ID_nvmlDeviceGetHandleByIndex_v2, state->visible[index], ANY);
    if (code == OK) *out = handle_of(state->visible[index]);
    return end(code);
}

int nvmlDeviceGetHandleByUUID(const char *uuid, void **out) {
    int slot, code = begin(ID_nvmlDeviceGetHandleByUUID, NULL, &slot);
    for (slot = 0; code == OK && slot < state->slots; slot++)
        if (state->slot[slot].uuid[0] && strcmp(state->slot[slot].uuid, uuid) == 0) break;
    if (code == OK && slot >= state->slots) code = NOT_FOUND;
    if (code == OK) code = scripted(ID_nvmlDeviceGetHandleByUUID, slot, ANY);
    if (code == OK) *out = handle_of(slot);
    return end(code);
}

int nvmlDeviceGetMigDeviceHandleByIndex(void *device, unsigned index, void **out) {
    int slot, code = begin(ID_nvmlDeviceGetMigDeviceHandleByIndex, device, &slot);
    if (code == OK) code = scripted(ID_nvmlDeviceGetMigDeviceHandleByIndex, slot, index);
    if (code != OK) return end(code);
    for (int child = 0; child < state->slots; child++)
        if (state->slot[child].uuid[0] && state->slot[child].parent == slot && state->slot[child].mig_index == (int)index) {
            *out = handle_of(child);
            return end(OK);
        }
    return end(NOT_FOUND);
}

int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(void *device, void **out) {
    int slot, code = begin(ID_nvmlDeviceGetDeviceHandleFromMigDeviceHandle, device, &slot);
    if (code == OK) code = scripted(ID_nvmlDeviceGetDeviceHandleFromMigDeviceHandle, slot, ANY);
    if (code == OK && state->slot[slot].parent < 0) code = INVALID;
    if (code == OK) *out = handle_of(state->slot[slot].parent);
    return end(code);
}

struct field_value { uint32_t field, scope; int64_t time, latency; uint32_t type; int32_t code; uint64_t value; };

int nvmlDeviceGetFieldValues(void *device, int count, struct field_value *values) {
    int slot, code = begin(ID_nvmlDeviceGetFieldValues, device, &slot);
    if (code == OK) code = scripted(ID_nvmlDeviceGetFieldValues, slot, ANY);
    for (int i = 0; code == OK && i < count; i++) {
        struct answer *found = answer_of(ID_field, slot, (int64_t[]){values[i].field, values[i].scope, ANY});
        values[i].code = found == NULL ? NOT_SUPPORTED : found->code;
        if (values[i].code != OK) continue;
        memcpy(&values[i].value, bytes_of(found), 8);
        memcpy(&values[i].type, bytes_of(found) + 8, 4);
    }
    return end(code);
}

struct metric { uint32_t id; int32_t code; double value; const char *names[3]; };
struct request { uint32_t version, count; struct sample *older, *newer; struct metric metrics[]; };

int nvmlGpmSampleAlloc(struct sample **out) {
    int slot, code = begin(ID_nvmlGpmSampleAlloc, NULL, &slot);
    if (code == OK) code = scripted(ID_nvmlGpmSampleAlloc, ANY, ANY);
    if (code == OK) *out = calloc(1, sizeof(struct sample)), state->samples_held++;
    return end(code);
}

int nvmlGpmSampleFree(struct sample *sample) {
    int slot, code = begin(ID_nvmlGpmSampleFree, NULL, &slot);
    if (code == OK) free(sample), state->samples_held--;
    return end(code);
}

static int take(int function, void *device, int64_t gpu_instance, struct sample *sample) {
    int slot, code = begin(function, device, &slot);
    if (code == OK) code = scripted(function, slot, gpu_instance);
    if (code == OK) *sample = (struct sample){slot, gpu_instance, ++state->sample_order};
    return end(code);
}

int nvmlGpmSampleGet(void *device, struct sample *sample) { return take(ID_nvmlGpmSampleGet, device, ANY, sample); }

int nvmlGpmMigSampleGet(void *device, unsigned gpu_instance, struct sample *sample) {
    return take(ID_nvmlGpmMigSampleGet, device, gpu_instance, sample);
}

int nvmlGpmMetricsGet(struct request *request) {
    int slot, code = begin(ID_nvmlGpmMetricsGet, NULL, &slot);
    if (code != OK) return end(code);
    struct sample *older = request->older, *newer = request->newer;
    if (request->version != 1) return end(VERSION);
    if (!older || !newer || !older->order || older->order >= newer->order || older->slot != newer->slot ||
        older->gpu_instance != newer->gpu_instance)
        return end(INVALID);
    count_call(ID_nvmlGpmMetricsGet, newer->slot);
    code = scripted(ID_nvmlGpmMetricsGet, newer->slot, newer->gpu_instance);
    for (unsigned i = 0; code == OK && i < request->count; i++) {
        struct metric *metric = &request->metrics[i];
        struct answer *found = answer_of(ID_gpm, newer->slot, (int64_t[]){metric->id, newer->gpu_instance, ANY});
        metric->code = found == NULL ? NOT_SUPPORTED : found->code;
        if (metric->code == OK) memcpy(&metric->value, bytes_of(found), 8);
    }
    return end(code);
}

struct event_row { void *device; uint64_t type, number; uint32_t gpu_instance, compute_instance; };

int nvmlEventSetCreate(void **out) {
    int slot, code = begin(ID_nvmlEventSetCreate, NULL, &slot);
    if (code == OK) code = scripted(ID_nvmlEventSetCreate, ANY, ANY);
    if (code == OK) *out = (void *)0x5e7;
    return end(code);
}

int nvmlEventSetFree(void *set) {
    int slot, code = begin(ID_nvmlEventSetFree, NULL, &slot);
    (void)set;
    for (slot = 0; code == OK && slot < state->slots; slot++) state->slot[slot].registered = 0;
    return end(code);
}

int nvmlDeviceRegisterEvents(void *device, uint64_t types, void *set) {
    int slot, code = begin(ID_nvmlDeviceRegisterEvents, device, &slot);
    (void)set;
    if (code == OK) code = scripted(ID_nvmlDeviceRegisterEvents, slot, ANY);
    if (code != OK) return end(code);
    uint64_t supported = 0;
    struct answer *found = answer_of(ID_nvmlDeviceGetSupportedEventTypes, slot, (int64_t[]){ANY, ANY, ANY});
    if (found != NULL && found->code == OK) memcpy(&supported, bytes_of(found), 8);
    if (types & ~supported) return end(NOT_SUPPORTED);
    state->slot[slot].registered = types;
    return end(OK);
}

int nvmlEventSetWait_v2(void *set, struct event_row *out, unsigned timeout_ms) {
    int slot, code = begin(ID_nvmlEventSetWait_v2, NULL, &slot);
    (void)set;
    if (code == OK) code = scripted(ID_nvmlEventSetWait_v2, ANY, ANY);
    if (code != OK) return end(code);
    for (int waited = 0;; waited = 1) {
        while (state->event_count > 0) {
            struct event *event = &state->events[state->event_first];
            state->event_first = (state->event_first + 1) % EVENTS;
            state->event_count--;
            if (!(state->slot[event->slot].registered & event->type)) continue;
            *out = (struct event_row){handle_of(event->slot), event->type, event->number, event->gpu_instance,
                                      event->compute_instance};
            return end(OK);
        }
        if (waited || state->instant) return end(TIMEOUT);
        wait_ms(timeout_ms);
    }
}

struct usage { uint32_t pid; uint64_t time; uint32_t sm, memory, encoder, decoder; };

int nvmlDeviceGetProcessUtilization(void *device, void *out, unsigned *count, uint64_t since) {
    int slot, code = begin(ID_nvmlDeviceGetProcessUtilization, device, &slot);
    (void)since;
    if (code != OK) return end(code);
    struct answer *found = answer_of(ID_nvmlDeviceGetProcessUtilization, slot, (int64_t[]){ANY, ANY, ANY});
    if (found == NULL) return end(NOT_FOUND);
    if (found->code != OK) return end(found->code);
    unsigned rows = found->size / sizeof(struct usage);
    if (out == NULL && rows > 0) { *count = rows; return end(TOO_SMALL); }
    *count = rows;
    if (rows > 0) memcpy(out, bytes_of(found), rows * sizeof(struct usage));
    return end(OK);
}

/* What tests and demonstrations call. They may be in another process than the calls above. */

int fake_function(const char *name) {
    static const char *names[] = {
#define FUNCTION(name, shape, format) #name,
#include "functions.def"
#undef FUNCTION
    };
    if (strcmp(name, "*") == 0) return ANY_FUNCTION;
    for (int i = 0; i < FUNCTIONS; i++) if (strcmp(names[i], name) == 0) return i;
    return -1;
}

const char *fake_format(int function) {
    static const char *formats[] = {
#define FUNCTION(name, shape, format) format,
#include "functions.def"
#undef FUNCTION
    };
    return function >= 0 && function < FUNCTIONS ? formats[function] : "";
}

static void changed(void) {
    state->version++;
    pthread_cond_broadcast(&state->changed);
    pthread_mutex_unlock(&state->lock);
}

int fake_answer(int function, int device, const int64_t *keys, int skip, int times, int code, int blocks, int delay_ms,
                const void *bytes, unsigned size) {
    if (size > BYTES_MAX) return TOO_SMALL;
    pthread_mutex_lock(&state->lock);
    struct answer *place = at(function, device, keys, times > 0);
    int elsewhere = -1;
    if (place != NULL) drop(place);
    if (size > BYTES_INSIDE) {
        for (elsewhere = 0; elsewhere < LONG_ONES && state->long_used[elsewhere]; elsewhere++) {}
        if (elsewhere == LONG_ONES || times > 0) place = NULL;
    }
    if (place != NULL) {
        *place = (struct answer){1, function, device, {keys[0], keys[1], keys[2]}, times > 0, skip, times, code, blocks,
                                 delay_ms, size, elsewhere, {0}};
        if (elsewhere >= 0) state->long_used[elsewhere] = 1;
        if (size > 0) memcpy(elsewhere >= 0 ? state->longs[elsewhere] : place->inside, bytes, size);
    }
    changed();
    return place == NULL ? TOO_SMALL : OK;
}

void fake_withdraw(int function, int device, const int64_t *keys) {
    pthread_mutex_lock(&state->lock);
    for (int passing = 0; passing < 2; passing++) {
        struct answer *found = written(function, device, keys, passing);
        if (found != NULL) drop(found);
    }
    changed();
}

int fake_add(const char *uuid, int parent, int mig_index) {
    pthread_mutex_lock(&state->lock);
    int slot = state->slots < SLOTS ? state->slots++ : -1;
    if (slot >= 0) {
        strncpy(state->slot[slot].uuid, uuid, sizeof state->slot[slot].uuid - 1);
        state->slot[slot].parent = parent;
        state->slot[slot].mig_index = mig_index;
        if (parent < 0) state->visible[state->visible_count++] = slot;
    }
    changed();
    return slot;
}

void fake_remove(int slot) {
    pthread_mutex_lock(&state->lock);
    state->slot[slot].uuid[0] = 0;
    changed();
}

void fake_show(const int32_t *slots, int count) {
    pthread_mutex_lock(&state->lock);
    memcpy(state->visible, slots, sizeof(int32_t) * count);
    state->visible_count = count;
    changed();
}

void fake_event(int slot, uint64_t type, uint64_t number, uint32_t gpu_instance, uint32_t compute_instance) {
    pthread_mutex_lock(&state->lock);
    if (state->event_count < EVENTS)
        state->events[(state->event_first + state->event_count++) % EVENTS] =
            (struct event){slot, type, number, gpu_instance, compute_instance};
    changed();
}

void fake_instant(int instant) {
    pthread_mutex_lock(&state->lock);
    state->instant = instant;
    changed();
}

uint64_t fake_calls(int function, int slot) {
    uint64_t sum = 0;
    pthread_mutex_lock(&state->lock);
    for (int f = 0; f < FUNCTIONS; f++)
        for (int s = 0; s <= SLOTS; s++)
            if ((function == ANY_FUNCTION || f == function) && (slot == ANY || s == slot)) sum += state->calls[f][s];
    pthread_mutex_unlock(&state->lock);
    return sum;
}

uint64_t fake_waiting(void) {
    pthread_mutex_lock(&state->lock);
    uint64_t count = state->in_flight;
    pthread_mutex_unlock(&state->lock);
    return count;
}

uint64_t fake_samples_held(void) {
    pthread_mutex_lock(&state->lock);
    uint64_t count = state->samples_held;
    pthread_mutex_unlock(&state->lock);
    return count;
}
