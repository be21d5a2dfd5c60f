/* The log callback: levels, replacing, finalizers, calls from within. */
#include "check.h"

typedef struct recorder {
  int messages;
  int finalized;
  int32_t last_level;
  char last[512];
} recorder;

static void record(void *userdata, int32_t level, const char *message) {
  recorder *r = (recorder *)userdata;
  r->messages++;
  r->last_level = level;
  strncpy(r->last, message, sizeof r->last - 1);
}

static void finalize(void *userdata) { ((recorder *)userdata)->finalized++; }

static void fail_once(void) {
  vyre_backend none = {0};
  EQUAL(vyre_backend_release(none, NULL), VYRE_ERROR_INVALID_HANDLE);
}

static void failures_are_logged_and_finalizers_run_once(void) {
  recorder first = {0, 0, 0, ""}, second = {0, 0, 0, ""};
  OK(vyre_set_log_callback(VYRE_LOG_ERROR, record, &first, finalize, ERR));
  fail_once();
  EQUAL(first.messages, 1);
  EQUAL(first.last_level, VYRE_LOG_ERROR);
  CHECK(strncmp(first.last, "VYRE_ERROR_INVALID_HANDLE: backend", 34) == 0);
  EQUAL(first.finalized, 0);
  OK(vyre_set_log_callback(VYRE_LOG_ERROR, record, &second, finalize, ERR));
  EQUAL(first.finalized, 1);
  fail_once();
  EQUAL(first.messages, 1);
  EQUAL(second.messages, 1);
  OK(vyre_set_log_callback(VYRE_LOG_OFF, NULL, NULL, NULL, ERR));
  EQUAL(second.finalized, 1);
  fail_once();
  EQUAL(first.messages + second.messages, 2);
  EQUAL(first.finalized + second.finalized, 2);
}

static void levels_filter(void) {
  recorder r = {0, 0, 0, ""};
  vyre_backend other;
  OK(vyre_set_log_callback(VYRE_LOG_ERROR, record, &r, NULL, ERR));
  other = check_acquire(1);
  EQUAL(r.messages, 0);
  OK(vyre_set_log_callback(VYRE_LOG_INFO, record, &r, NULL, ERR));
  OK(vyre_backend_release(other, ERR));
  EQUAL(r.messages, 1);
  EQUAL(r.last_level, VYRE_LOG_INFO);
  OK(vyre_set_log_callback(VYRE_LOG_OFF, record, &r, finalize, ERR));
  fail_once();
  EQUAL(r.messages, 1);
  EQUAL(r.finalized, 0);
  OK(vyre_set_log_callback(VYRE_LOG_DEBUG, NULL, NULL, NULL, ERR));
  EQUAL(r.finalized, 1);
}

/* A callback is cleared with a finalizer of its own: there is nothing to wait for. */
static void clearing_finalizes_at_once(void) {
  recorder r = {0, 0, 0, ""};
  OK(vyre_set_log_callback(VYRE_LOG_DEBUG, NULL, &r, finalize, ERR));
  EQUAL(r.finalized, 1);
}

static void a_refused_callback_stays_the_callers(void) {
  recorder r = {0, 0, 0, ""};
  FAILS(VYRE_ERROR_INVALID_ARGUMENT, "level is 5", vyre_set_log_callback(5, record, &r, finalize, ERR));
  FAILS(VYRE_ERROR_INVALID_ARGUMENT, "level is -1", vyre_set_log_callback(-1, record, &r, finalize, ERR));
  EQUAL(r.finalized, 0);
  fail_once();
  EQUAL(r.messages, 0);
}

static void clear_from_within(void *userdata, int32_t level, const char *message) {
  record(userdata, level, message);
  /* Calls back into the library, one of which fails: no lock is held, nothing recurses. */
  fail_once();
  EQUAL(vyre_set_log_callback(VYRE_LOG_OFF, NULL, NULL, NULL, NULL), VYRE_OK);
  /* This very call still uses the userdata. */
  EQUAL(((recorder *)userdata)->finalized, 0);
}

static void a_callback_may_call_back(void) {
  recorder r = {0, 0, 0, ""};
  OK(vyre_set_log_callback(VYRE_LOG_ERROR, clear_from_within, &r, finalize, ERR));
  fail_once();
  EQUAL(r.messages, 1);
  EQUAL(r.finalized, 1);
}

int main(void) {
  RUN(failures_are_logged_and_finalizers_run_once);
  RUN(levels_filter);
  RUN(clearing_finalizes_at_once);
  RUN(a_refused_callback_stays_the_callers);
  RUN(a_callback_may_call_back);
  return check_finish();
}
