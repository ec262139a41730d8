/*
 * cloister.h - differentially private clustering and subspace learning.
 *
 * The way of data, and the type that stands at each step:
 *
 *   clo_table     read       sensitive; no function writes one out
 *   clo_bounded   bound      sensitive; integer records inside a clo_domain; all that
 *                            a mechanism sees
 *   clo_plan      plan       public; queries, noise and cost, made without the data
 *   clo_grant     spend      public; the budget, already spent; good for one run
 *   clo_release   release    public; all that a report sees
 *
 * A step cannot be taken out of order: no function accepts another step's type.  clo_job (job.h)
 * takes all of them, from settings to a stored release: begin there.
 *
 * Conventions of every function here:
 *   - what can fail returns clo_status and takes a clo_error last, which may be
 *     NULL; on failure, outputs are left as they were;
 *   - inputs come first, then options, then outputs;
 *   - *_new and *_open give an object that the matching *_free or *_close takes
 *     back; those accept NULL; "borrowed" means it lives as long as its owner;
 *   - the library keeps no state of its own: calls on different objects may run
 *     at once, calls that change one object may not.
 *
 * Structs that may grow.  A struct that begins with struct_size gets new fields at
 * its end, in any version; a program that was compiled with an older header, or a
 * newer one, than that of the library keeps working:
 *   - what the caller fills starts from clo_NAME_default(), which is compiled into
 *     the caller and so knows its length; the presets come from the library, by
 *     clo_NAME_init(&it, sizeof it), which other languages call themselves.  Fields
 *     that the caller does not know are at their presets.  A field that only the
 *     caller knows is refused with CLO_UNSUPPORTED unless it is 0;
 *   - what the library fills, the caller makes with struct_size set to its sizeof:
 *     no more is written, and fields that only the caller knows become 0;
 *   - what the library shows in a callback is as long as its struct_size says.
 * All other structs are frozen: they never change (clo_error, clo_matrix,
 * clo_sparse_rows, clo_loss, clo_event, clo_price, clo_comparison, clo_param,
 * clo_setting, clo_setting_info, clo_array, clo_comm, clo_block, clo_writer,
 * clo_persons, clo_packet).  What more there is to say gets a function of its own.
 */
#ifndef CLOISTER_H
#define CLOISTER_H

#include <cloister/status.h>
#include <cloister/output.h>
#include <cloister/schema.h>
#include <cloister/data.h>
#include <cloister/persons.h>
#include <cloister/arrow.h>
#include <cloister/inspect.h>
#include <cloister/domain.h>
#include <cloister/params.h>
#include <cloister/privacy.h>
#include <cloister/random.h>
#include <cloister/bingham.h>
#include <cloister/mechanism.h>
#include <cloister/ledger.h>
#include <cloister/steward.h>
#include <cloister/release.h>
#include <cloister/page.h>
#include <cloister/cut.h>
#include <cloister/run.h>
#include <cloister/worker.h>
#include <cloister/job.h>
#include <cloister/broker.h>
#include <cloister/generate.h>
#include <cloister/solve.h>
#include <cloister/assign.h>
#include <cloister/evaluate.h>
#include <cloister/audit.h>

#endif
