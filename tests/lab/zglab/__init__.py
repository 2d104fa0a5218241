# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab: a network of namespaces around the real daemon on a real kernel."""

from .cases import Skip, case
from .lab import CLIENT4, CLIENT6, OTHER_VIP4, OTHER_VIP6, VIP4, VIP6, Lab

__all__ = [
    "CLIENT4", "CLIENT6", "Lab", "OTHER_VIP4", "OTHER_VIP6", "Skip", "VIP4", "VIP6", "case",
]
