/*
 * fuzz_accountant.c - any bytes as a list of events and a budget.  The accountant must end, must
 * refuse or answer, and what it answers must hold together: no NaN, no loss below 0, a delta
 * of at most 1, a price that its own inverse confirms, a factor whose price fits the budget.
 *
 * Input: epsilon and delta (a double each), then events of 26 bytes: kind, shape, parameter,
 * delta, count.  Raw doubles seldom make a valid list, so the shape may fold them into range.
 */
#include "accounting/accounting.h"
#include <math.h>
#include <string.h>

enum { MOST_EVENTS = 5, EVENT_BYTES = 26 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void require(bool condition)
{
    if (!condition) __builtin_trap();
}

static double double_from(const uint8_t *bytes)
{
    double x;
    memcpy(&x, bytes, sizeof x);
    return x;
}

static clo_event event_from(const uint8_t *bytes)
{
    clo_event event = { .kind = (clo_event_kind)(bytes[0] % 6) };
    const uint8_t shape = bytes[1];
    event.parameter = double_from(bytes + 2);
    event.delta = double_from(bytes + 10);
    memcpy(&event.count, bytes + 18, sizeof event.count);
    if (shape & 1) event.parameter = fabs(event.parameter);
    if (shape & 2) event.parameter = fmod(event.parameter, 4);
    if (shape & 4)
        event.delta = event.kind == CLO_EVENT_APPROXIMATE ? fmod(fabs(event.delta), 1) : 0;
    if (shape & 8) event.count %= 1000;
    return event;
}

static void check_prices(const clo_event *events, size_t count, clo_loss budget)
{
    clo_price price, back;
    clo_error err;
    const clo_status status = clo_price_epsilon(events, count, budget.delta, &price, &err);
    require(status == CLO_OK || status == CLO_ARGUMENT);
    if (status == CLO_OK) {
        require(price.loss.epsilon >= 0 && price.accounting);
        require(!(price.loss.delta < budget.delta || price.loss.delta > budget.delta));
        /* each chooses its own Renyi order, in double: with a large epsilon they drift apart */
        if (price.loss.epsilon < 1000 &&
            clo_price_delta(events, count, price.loss.epsilon, &back, &err) == CLO_OK)
            require(back.loss.delta <= budget.delta * (1 + 1e-3) + 1e-300);
    }
    if (clo_price_delta(events, count, budget.epsilon, &back, &err) == CLO_OK)
        require(back.loss.delta >= 0 && back.loss.delta <= 1);
}

/* Each method by itself: no NaN; a lower bound below every upper one but those that price
 * choices better than their worst pair; nothing below the price where it is a candidate for it. */
static void check_methods(const clo_event *events, size_t count, double delta)
{
    clo_price price;
    clo_comparison row;
    clo_error err;
    const char *name;
    bool choices = false;
    if (clo_price_epsilon(events, count, delta, &price, &err) != CLO_OK) return;
    for (size_t i = 0; i < count; i++) choices = choices || events[i].kind == CLO_EVENT_EXPONENTIAL;
    for (size_t i = 0; (name = clo_accounting_name(i)); i++) {
        require(clo_price_by(name, events, count, delta, &row, &err) == CLO_OK);
        require(row.epsilon >= 0 && row.lower >= 0 && row.lower <= row.epsilon);
        if (strcmp(name, "advanced")) require(row.epsilon >= price.loss.epsilon);
        if (!choices) require(row.lower <= price.loss.epsilon * (1 + 1e-9));
    }
}

static void check_factor(const clo_event *events, size_t count, clo_loss budget)
{
    clo_event scaled[MOST_EVENTS];
    clo_price price;
    clo_error err;
    double factor;
    const clo_status status = clo_calibrate(events, count, budget, &factor, &err);
    require(status == CLO_OK || status == CLO_ARGUMENT);
    if (status != CLO_OK) return;
    require(factor > 0 && isfinite(factor));
    for (size_t i = 0; i < count; i++) {
        scaled[i] = events[i];
        scaled[i].parameter *= factor;
    }
    require(clo_price_epsilon(scaled, count, budget.delta, &price, &err) == CLO_OK);
    require(price.loss.epsilon <= budget.epsilon);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    clo_event events[MOST_EVENTS];
    size_t count = 0;
    uint64_t rho, delta;
    clo_error err;
    if (size < 16) return 0;
    const clo_loss budget = { double_from(bytes), double_from(bytes + 8) };
    for (size_t at = 16; size - at >= EVENT_BYTES && count < MOST_EVENTS; at += EVENT_BYTES)
        events[count++] = event_from(bytes + at);
    check_prices(events, count, budget);
    check_methods(events, count, budget.delta);
    check_factor(events, count, budget);
    if (clo_i_events_rho(events, count, &rho, &delta, &err) != CLO_OK) require(err.message[0]);
    if (clo_i_capacity_rho(budget, &rho, &err) == CLO_OK) require(rho < UINT64_MAX);
    return 0;
}
