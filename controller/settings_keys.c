// SPDX-License-Identifier: GPL-2.0-or-later
// The keys of the settings file: where each is kept, what it may be, its default and its help.
#include "settings_keys.h"

#include <stddef.h>

#include "model/marks.h"
#include "settings.h"

#define AT(member) offsetof(struct settings, member)

const struct settings_key settings_keys[] = {
	{"node", "name", KEY_TEXT, VALUE_HOST, AT(node_name), NULL, 0, 0, NULL,
	 "name of this node (default: the host's name)"},
	{"node", "zones", KEY_LIST, VALUE_NAME, AT(node_zones), NULL, 0, 0, NULL,
	 "zones whose VIPs this node programs, separated by commas (default: all); the log and the status warn of those that the "
	 "document does not know"},
	{"node", "vip_link", KEY_TEXT, VALUE_DEVICE, AT(node_vip_link), NULL, 0, 0, NULL,
	 "interface on which packets for the VIPs arrive; without carrier its VIPs are unhealthy (default: not looked at)"},
	{"node", "peers", KEY_LIST, VALUE_ADDRESS, AT(node_peers), NULL, 0, 0, NULL,
	 "addresses of other gateways: their TCP probes of the VIPs (vip_probe) come in whatever an access list says (default: none)"},
	{"api", "socket", KEY_TEXT, VALUE_PATH, AT(api_socket), "/run/zonegate/api.sock", 0, 0,
	 NULL, "unix socket of the API; root has every right on it"},
	{"api", "listen", KEY_LIST, VALUE_PRINTABLE, AT(api_listen), NULL, 0, 0, NULL,
	 "address:port of plain HTTP, loopback only (default: none)"},
	{"api", "token_file", KEY_TEXT, VALUE_PATH, AT(api_token_file), NULL, 0, 0, NULL,
	 "file with one more token, an admin's: one line of 16 to 512 printable characters, not readable by everybody (default: none)"},
	{"api", "allowed_hosts", KEY_LIST, VALUE_ADDRESSED_HOST, AT(api_allowed_hosts), NULL, 0, 0,
	 NULL, "host names beside localhost that requests over TCP may be addressed to"},
	{"api", "tls_listen", KEY_LIST, VALUE_PRINTABLE, AT(api_tls_listen), NULL, 0, 0, NULL,
	 "address:port of HTTPS, any address: 192.0.2.1:7443, [::]:7443 (default: none)"},
	{"api", "tls_cert", KEY_TEXT, VALUE_PATH, AT(api_tls_cert), NULL, 0, 0, NULL,
	 "certificate in PEM form, its issuers behind it; read again on SIGHUP (default: one that signs itself, made in the folder "
	 "of the database)"},
	{"api", "tls_key", KEY_TEXT, VALUE_PATH, AT(api_tls_key), NULL, 0, 0, NULL,
	 "its key in PEM form, not readable by everybody"},
	{"store", "path", KEY_TEXT, VALUE_PATH, AT(store_path), "/var/lib/zonegate", 0, 0, NULL,
	 "folder of the database"},
	{"dns", "listen", KEY_LIST, VALUE_PRINTABLE, AT(dns_listen), NULL, 0, 0, NULL,
	 "addresses on which DNS is answered, UDP and TCP: 192.0.2.53, [2001:db8::53]:53 (default: none)"},
	{"dns", "apex", KEY_LIST, VALUE_DOMAIN, AT(dns_apex), NULL, 0, 0, NULL,
	 "names that are served with SOA and NS; load balancers' names lie under them (default: each name is its own)"},
	{"dns", "ns", KEY_LIST, VALUE_NAME_SERVER, AT(dns_ns), NULL, 0, 0, NULL,
	 "name servers, in the order of the NS records: NAME, or NAME=ADDRESS=ADDRESS with the addresses that are answered when the "
	 "name is under an apex"},
	{"dns", "hostmaster", KEY_TEXT, VALUE_MAILBOX, AT(dns_hostmaster), NULL, 0, 0, NULL,
	 "mailbox of the SOA record (default: hostmaster at the apex)"},
	{"dns", "rrl", KEY_NUMBER, VALUE_PRINTABLE, AT(dns_rrl), "200", 0, 1000000, NULL,
	 "like answers a second to one network of clients (/24, /56) before they are limited; 0: no limit"},
	{"dns", "rrl_exempt", KEY_LIST, VALUE_PRINTABLE, AT(dns_rrl_exempt), NULL, 0, 0, NULL,
	 "networks that are not limited"},
	{"dns", "nsid", KEY_TEXT, VALUE_PRINTABLE, AT(dns_nsid), NULL, 0, 0, NULL,
	 "answer to NSID (default: the name of the node)"},
	{"dns_update", "server", KEY_TEXT, VALUE_PRINTABLE, AT(dns_update_server), NULL, 0, 0, NULL,
	 "name server that is kept equal by RFC 2136: address or address:port (default: none)"},
	{"dns_update", "zone", KEY_TEXT, VALUE_DOMAIN, AT(dns_update_zone), NULL, 0, 0, NULL,
	 "its zone"},
	{"dns_update", "key_file", KEY_TEXT, VALUE_PATH, AT(dns_update_key_file), NULL, 0, 0, NULL,
	 "file with the TSIG key, not readable by everybody"},
	{"kernel", "ipvs", KEY_CHOICE, VALUE_PRINTABLE, AT(kernel_ipvs), "auto", 0, 0, "auto|off",
	 "auto: program the kernel; off: only probe and plan"},
	{"kernel", "on_stop", KEY_CHOICE, VALUE_PRINTABLE, AT(kernel_on_stop), "keep", 0, 0,
	 "keep|flush", "what a stop does to our virtual services"},
	{"kernel", "audit_interval_s", KEY_NUMBER, VALUE_PRINTABLE, AT(kernel_audit_interval_s),
	 "30", 1, 86400, NULL,
	 "seconds between two comparisons of the kernel's table with what it should be"},
	{"kernel", "vip_device", KEY_TEXT, VALUE_DEVICE, AT(kernel_vip_device), "zonegate0", 0, 0,
	 NULL,
	 "device that the VIP addresses are kept on, or none; a name that begins with zonegate is a dummy that the daemon "
	 "makes, any other must exist, and the addresses are announced on its link"},
	{"kernel", "iptables", KEY_CHOICE, VALUE_PRINTABLE, AT(kernel_iptables), "auto", 0, 0,
	 "auto|nft|legacy",
	 "backend of iptables for vip_guard, access lists and port ranges; auto: what the command iptables is here, or else the others"},
	{"kernel", "manage_sysctls", KEY_CHOICE, VALUE_PRINTABLE, AT(kernel_manage_sysctls), "yes",
	 0, 0, "yes|no",
	 "set the sysctls that the configuration needs: below net.ipv4.vs, and forwarding; see zonegated(8), SYSCTLS"},
	{"kernel", "marks", KEY_TEXT, VALUE_MARKS, AT(kernel_marks), MARKS_DEFAULT_TEXT, 0, 0, NULL,
	 "firewall marks for listeners with a range of ports, as VALUE/MASK: those that are VALUE in the bits of MASK, which leaves 1 to "
	 "12 bits free; each such listener takes one in each zone"},
	{"notify", "url", KEY_LIST, VALUE_PRINTABLE, AT(notify_url), NULL, 0, 0, NULL,
	 "where events are sent to: http:// or https://, at most 8, a comma in one as %2C (default: none)"},
	{"notify", "secret_file", KEY_TEXT, VALUE_PATH, AT(notify_secret_file), NULL, 0, 0, NULL,
	 "file with the secret that calls are signed with, one line of 16 to 512 printable characters, not readable by everybody; read at each call (default: "
	 "they are not signed)"},
	{"notify", "min_severity", KEY_CHOICE, VALUE_PRINTABLE, AT(notify_min_severity), "notice",
	 0, 0, "error|warning|notice|info", "the least important events that are sent"},
	{"notify", "types", KEY_LIST, VALUE_PRINTABLE, AT(notify_types), NULL, 0, 0, NULL,
	 "the types of events, or families as server.*, that are sent (default: all)"},
	{"notify", "pace_ms", KEY_NUMBER, VALUE_PRINTABLE, AT(notify_pace_ms), "1000", 10, 3600000,
	 NULL,
	 "milliseconds between two calls of one URL; what happens meanwhile goes into one, 50 events at most. Doubles with each failure, to a minute"},
	{"notify", "timeout_s", KEY_NUMBER, VALUE_PRINTABLE, AT(notify_timeout_s), "10", 1, 60,
	 NULL, "seconds that a call may take"},
	{"log", "level", KEY_CHOICE, VALUE_PRINTABLE, AT(log_level), "info", 0, 0,
	 "error|warning|notice|info|debug", "the least important lines that are written"},
	{"log", "target", KEY_CHOICE, VALUE_PRINTABLE, AT(log_target), "journald", 0, 0,
	 "stderr|journald", "where the log goes"},
};

const size_t settings_keys_count = sizeof(settings_keys) / sizeof(settings_keys[0]);
_Static_assert(sizeof(settings_keys) / sizeof(settings_keys[0]) <= SETTINGS_KEYS_MAX,
	       "a reader counts them");
