# SPDX-License-Identifier: GPL-2.0-or-later
"""A kernel without ip_vs: the daemon waits, says so, and takes over when it comes.

The cases are one story, in this order: a module that is loaded stays.
"""

from zglab import case
from zglab.documents import web
from zglab.modules import IPVS, forbid_loading

LAB_KIND = "uml"
LAB_SECONDS = 6


@case(without_ipvs=True)
def off_needs_no_kernel(lab):
    forbid_loading()
    lab.network(1)
    lab.gw.daemon.settings["kernel"]["ipvs"] = "off"
    lab.gw.daemon.start()
    lab.gw.api.apply(web(lab))
    lab.wait(
        lambda: lab.gw.api.get("/server-groups/web/servers/s1/health").json["state"] == "healthy",
        1 + lab.margin, "it probes",
    )
    assert lab.gw.table() == {}


@case(without_ipvs=True)
def waits_and_takes_over(lab):
    forbid_loading()
    lab.network(1)
    lab.gw.daemon.start()
    assert "modprobe ip_vs" in lab.gw.daemon.log()
    before = lab.gw.api.get("/config").expect(200)
    answer = lab.gw.api.put("/config", web(lab), {"If-Match": before.etag}).expect(503)
    assert "kernel-unavailable" in answer.json["type"], answer.body
    lab.gw.api.get("/livez").expect(200)
    assert lab.gw.api.get("/config").expect(200).etag == before.etag
    lab.load(IPVS)
    lab.wait(
        lambda: lab.gw.api.put("/config", web(lab), {"If-Match": before.etag}).status == 200,
        2 + lab.margin, "writes are taken", pause=0.2,
    )
    lab.wait_in_service()
    assert lab.who(count=4) == {"s1": 4}
