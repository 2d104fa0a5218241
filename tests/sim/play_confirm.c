// SPDX-License-Identifier: GPL-2.0-or-later
// Confirmations of a play.
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "engine/confirm.h"
#include "sim/play.h"

struct play_confirmation {
	struct confirm_request request;
	struct play *play;
};

static void on_done(struct confirm_request *r, const struct err *faults,
		    const struct confirm_status *s)
{
	struct play_confirmation *c = r->ctx;

	if (!s && !err_any(faults))
		sim_world_fail("a confirmation has neither an outcome nor a fault");
	snprintf(c->play->confirm_answer, sizeof(c->play->confirm_answer), "%s",
		 s ? "done" : err_code_name(faults->faults[0].code));
	free(c);
}

/* confirm [REVISION] */
static bool do_confirm(struct play *p)
{
	struct play_confirmation *c = mem_new(struct play_confirmation);

	if (p->count > 1 && !play_parse_number(p, p->words[1], &c->request.revision)) {
		free(c);
		return false;
	}
	c->play = p;
	c->request.who = "play";
	c->request.ctx = c;
	c->request.done = on_done;
	snprintf(p->confirm_answer, sizeof(p->confirm_answer), "pending");
	engine_confirm(p->world.engine, &c->request);
	engine_settle(p->world.engine);
	sim_world_run(&p->world);
	return true;
}

const struct play_command play_confirm[] = {
	{"confirm", 1, do_confirm},
	{NULL, 0, NULL},
};
