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
 */
#ifndef CLOISTER_H
#define CLOISTER_H

#include <cloister/status.h>
#include <cloister/data.h>
#include <cloister/domain.h>
#include <cloister/params.h>
#include <cloister/privacy.h>
#include <cloister/random.h>
#include <cloister/bingham.h>
#include <cloister/mechanism.h>
#include <cloister/ledger.h>
#include <cloister/release.h>
#include <cloister/run.h>
#include <cloister/job.h>
#include <cloister/generate.h>
#include <cloister/solve.h>
#include <cloister/assign.h>
#include <cloister/evaluate.h>
#include <cloister/audit.h>

#endif
