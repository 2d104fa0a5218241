# SPDX-License-Identifier: GPL-2.0-or-later
"""Just enough rtnetlink and generic netlink to build a network without forking.

One fork and exec costs 20 ms inside user-mode linux; a topology has some forty
links, addresses and routes.
"""

import ipaddress
import os
import socket
import struct

NLM_F_REQUEST = 1
NLM_F_ACK = 4
NLM_F_ROOT_MATCH = 0x300
NLM_F_EXCL = 0x200
NLM_F_REPLACE = 0x100
NLM_F_CREATE = 0x400
NLMSG_ERROR = 2
NLMSG_DONE = 3

RTM_NEWLINK, RTM_DELLINK = 16, 17
RTM_NEWADDR, RTM_DELADDR = 20, 21
RTM_NEWROUTE, RTM_DELROUTE = 24, 25

IFLA_IFNAME, IFLA_MTU, IFLA_MASTER = 3, 4, 10
IFLA_LINKINFO, IFLA_NET_NS_FD = 18, 28
IFLA_INFO_KIND, IFLA_INFO_DATA = 1, 2
VETH_INFO_PEER = 1
IFF_UP = 1
IFA_LOCAL, IFA_ADDRESS, IFA_FLAGS = 2, 1, 8
IFA_F_NODAD = 2
RTA_DST, RTA_OIF, RTA_GATEWAY = 1, 4, 5

NETLINK_GENERIC = 16  # the socket module of Debian 12 has no name for it
GENL_ID_CTRL = 16
CTRL_CMD_GETFAMILY = 3
CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME = 1, 2


def attribute(kind, payload):
    if isinstance(payload, str):
        payload = payload.encode() + b"\0"
    elif isinstance(payload, int):
        payload = struct.pack("=I", payload)
    length = 4 + len(payload)
    return struct.pack("=HH", length, kind) + payload + b"\0" * (-length % 4)


def attributes(data):
    """{kind: payload} of a run of attributes."""
    found = {}
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        if length < 4:
            break
        found[kind & 0x3FFF] = data[4:length]
        data = data[(length + 3) & ~3 :]
    return found


class Netlink:
    """A netlink socket of the network namespace that the thread is in."""

    def __init__(self, protocol=socket.NETLINK_ROUTE):
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol)
        self._socket.bind((0, 0))
        self._sequence = 0

    def close(self):
        self._socket.close()

    def request(self, kind, body, flags=0, what=""):
        """Send one request, wait for its acknowledgement, return the reply bodies."""
        self._sequence += 1
        flags |= NLM_F_REQUEST | NLM_F_ACK
        length = 16 + len(body)
        self._socket.send(
            struct.pack("=IHHII", length, kind, flags, self._sequence, 0) + body
        )
        replies = []
        while True:
            data = self._socket.recv(1 << 17)
            while len(data) >= 16:
                length, kind, _, sequence, _ = struct.unpack_from("=IHHII", data)
                payload = data[16:length]
                data = data[(length + 3) & ~3 :]
                if sequence != self._sequence:
                    continue
                if kind == NLMSG_ERROR:
                    error = -struct.unpack_from("=i", payload)[0]
                    if error:
                        raise OSError(error, os.strerror(error), what)
                    return replies
                if kind == NLMSG_DONE:
                    return replies
                replies.append(payload)

    def link_add(self, name, kind, peer=None, peer_ns=None, data=b""):
        # A veth cannot be up before it has its peer.
        up = 0 if peer else IFF_UP
        body = struct.pack("=BxHiII", 0, 0, 0, up, up) + attribute(IFLA_IFNAME, name)
        info = attribute(IFLA_INFO_KIND, kind)
        if peer:
            inner = struct.pack("=BxHiII", 0, 0, 0, 0, 0) + attribute(IFLA_IFNAME, peer)
            if peer_ns is not None:
                inner += attribute(IFLA_NET_NS_FD, peer_ns)
            data = attribute(VETH_INFO_PEER, inner)
        if data:
            info += attribute(IFLA_INFO_DATA, data)
        body += attribute(IFLA_LINKINFO, info)
        self.request(RTM_NEWLINK, body, NLM_F_CREATE | NLM_F_EXCL, f"link {name} {kind}")

    def link_set(self, name, up=True, master=None, mtu=None):
        index = socket.if_nametoindex(name)
        body = struct.pack("=BxHiII", 0, 0, index, IFF_UP if up else 0, IFF_UP)
        if master is not None:
            body += attribute(IFLA_MASTER, socket.if_nametoindex(master))
        if mtu is not None:
            body += attribute(IFLA_MTU, mtu)
        self.request(RTM_NEWLINK, body, 0, f"link set {name}")

    def link_del(self, name):
        body = struct.pack("=BxHiII", 0, 0, socket.if_nametoindex(name), 0, 0)
        self.request(RTM_DELLINK, body, 0, f"link del {name}")

    def _address(self, kind, flags, name, interface):
        address = ipaddress.ip_interface(interface)
        family = socket.AF_INET if address.version == 4 else socket.AF_INET6
        nodad = IFA_F_NODAD if address.version == 6 else 0
        body = struct.pack(
            "=BBBBI", family, address.network.prefixlen, nodad, 0, socket.if_nametoindex(name)
        )
        body += attribute(IFA_LOCAL, address.packed) + attribute(IFA_ADDRESS, address.packed)
        self.request(kind, body, flags, f"address {interface} on {name}")

    def address_add(self, name, interface):
        self._address(RTM_NEWADDR, NLM_F_CREATE | NLM_F_REPLACE, name, interface)

    def address_del(self, name, interface):
        self._address(RTM_DELADDR, 0, name, interface)

    def route_add(self, destination, gateway=None, device=None):
        network = ipaddress.ip_network(destination)
        family = socket.AF_INET if network.version == 4 else socket.AF_INET6
        # table main, protocol static, scope universe or link, type unicast
        scope = 0 if gateway else 253
        body = struct.pack("=BBBBBBBBI", family, network.prefixlen, 0, 0, 254, 4, scope, 1, 0)
        if network.prefixlen:
            body += attribute(RTA_DST, network.network_address.packed)
        if gateway:
            body += attribute(RTA_GATEWAY, ipaddress.ip_address(gateway).packed)
        if device:
            body += attribute(RTA_OIF, socket.if_nametoindex(device))
        self.request(
            RTM_NEWROUTE, body, NLM_F_CREATE | NLM_F_REPLACE, f"route {destination}"
        )


def generic_family(name):
    """Number of a generic netlink family; raises OSError(ENOENT) without it."""
    netlink = Netlink(NETLINK_GENERIC)
    try:
        body = struct.pack("=BBH", CTRL_CMD_GETFAMILY, 1, 0)
        body += attribute(CTRL_ATTR_FAMILY_NAME, name)
        replies = netlink.request(GENL_ID_CTRL, body, 0, f"family {name}")
        return struct.unpack("=H", attributes(replies[0][4:])[CTRL_ATTR_FAMILY_ID])[0]
    finally:
        netlink.close()
