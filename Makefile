# SPDX-License-Identifier: GPL-2.0-or-later
# One Makefile for the whole tree: no recursion, no configure step.
#
#   make deps      packages of this Debian that are missing
#   make           build/zonegated and build/zonegate
#   make test      everything that CI runs        make demo   a live gateway to look at
#   make help      the other targets
#
# VARIANT=default|asan|fuzz|coverage builds into build/$(VARIANT)/.

VERSION := 0.1.0
BUILD ?= build
VARIANT ?= default
PREFIX ?= /usr
DESTDIR ?=
FUZZ_SECONDS ?= 60
REPLAY_SECONDS ?= 5
PYTHON ?= python3
CLANG ?= clang
PKG_CONFIG ?= pkg-config
ifeq ($(origin CC),default)
CC := gcc
endif

JOBS ?= $(shell nproc)
MAKEFLAGS += -j$(JOBS) --no-builtin-rules
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:

OUT := $(BUILD)/$(VARIANT)

# ---- flags ----------------------------------------------------------------------------------

WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wpointer-arith -Wcast-qual -Wwrite-strings -Wformat=2 -Wundef -Wvla -Wswitch-enum \
	-Wconversion -Wsign-conversion -Wnull-dereference -Werror
HARDENING := -fstack-protector-strong -fPIE
OPTIMIZE := -O2 -g
FORTIFY := -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3
SANITIZE :=

ifeq ($(VARIANT),default)
else ifeq ($(VARIANT),asan)
OPTIMIZE := -O1 -g -fno-omit-frame-pointer
FORTIFY := -U_FORTIFY_SOURCE
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all
else ifeq ($(VARIANT),fuzz)
CC := $(CLANG)
OPTIMIZE := -O1 -g -fno-omit-frame-pointer
FORTIFY := -U_FORTIFY_SOURCE
SANITIZE := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
else ifeq ($(VARIANT),coverage)
OPTIMIZE := -O0 -g
FORTIFY := -U_FORTIFY_SOURCE
SANITIZE := --coverage
else
$(error VARIANT is default, asan, fuzz or coverage, not "$(VARIANT)")
endif

# Debian ships no libev.pc: the plain library name stands in for it.
DAEMON_PKGS := libnl-3.0 libnl-genl-3.0 libnl-route-3.0 libmicrohttpd jansson sqlite3 gnutls \
	libsystemd libcrypt inih
CLI_PKGS := jansson libcurl
PKG_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(DAEMON_PKGS) 2>/dev/null)
DAEMON_LIBS = $(shell $(PKG_CONFIG) --libs $(DAEMON_PKGS)) -lev -pthread -lm
CLI_LIBS = $(shell $(PKG_CONFIG) --libs $(CLI_PKGS)) -pthread

CPPFLAGS_ALL = -Icontroller -D_GNU_SOURCE -DZONEGATE_VERSION='"$(VERSION)"' \
	$(patsubst -I%,-isystem %,$(PKG_CFLAGS)) $(FORTIFY) $(CPPFLAGS)
CFLAGS_ALL = -std=gnu17 $(OPTIMIZE) $(WARNINGS) $(HARDENING) $(SANITIZE) -pthread $(CFLAGS)
LDFLAGS_ALL = -pie -Wl,-z,relro,-z,now -Wl,--as-needed $(OPTIMIZE) $(SANITIZE) $(LDFLAGS)
COMPILE = $(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

# ---- sources --------------------------------------------------------------------------------

CLI_SRC := $(sort $(wildcard controller/cli/*.c))
BASE_SRC := $(sort $(wildcard controller/base/*.c))
LIB_SRC := $(sort $(filter-out $(CLI_SRC),$(wildcard controller/*/*.c)) \
	$(filter-out controller/main.c,$(wildcard controller/*.c)))
UNIT_SRC := $(sort $(wildcard tests/unit/*_test.c))
SIM_SRC := $(sort $(wildcard tests/sim/*.c))
FUZZ_SRC := $(sort $(wildcard tests/fuzz/*_fuzz.c))
BENCH_SRC := $(sort $(wildcard tests/bench/*.c))

obj = $(patsubst %.c,$(OUT)/%.o,$(1))
LIB := $(OUT)/libzonegate.a
UNIT_BIN := $(UNIT_SRC:%.c=$(OUT)/%)
FUZZ_BIN := $(FUZZ_SRC:%.c=$(OUT)/%)
BENCH_BIN := $(BENCH_SRC:%.c=$(OUT)/%)
SIM_BIN := $(if $(SIM_SRC),$(OUT)/tests/sim/sim)

# ---- build ----------------------------------------------------------------------------------

.PHONY: all objects
all: $(BUILD)/zonegated $(BUILD)/zonegate

# The two programs stand at build/ whatever the variant, the last one built.
$(BUILD)/zonegated $(BUILD)/zonegate: $(BUILD)/%: $(OUT)/% $(OUT)/.linked
	ln -sf $(VARIANT)/$* $@

# Remembers which variant the links at the top show, so that a change of it is noticed.
.PHONY: FORCE
$(OUT)/.linked: FORCE
	@mkdir -p $(@D)
	@test "$$(readlink $(BUILD)/zonegated 2>/dev/null)" = "$(VARIANT)/zonegated" || touch $@
	@test -e $@ || touch $@

$(LIB): $(call obj,$(LIB_SRC))
	rm -f $@
	$(AR) rcs $@ $^

$(OUT)/zonegated: $(OUT)/controller/main.o $(LIB)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ $(DAEMON_LIBS)

$(OUT)/zonegate: $(call obj,$(CLI_SRC) $(BASE_SRC))
	$(CC) $(LDFLAGS_ALL) -o $@ $^ $(CLI_LIBS)

objects: $(call obj,$(LIB_SRC) $(CLI_SRC) $(wildcard controller/main.c))

$(OUT)/%.o: %.c $(OUT)/.flags
	@mkdir -p $(@D)
	$(COMPILE)

$(OUT)/tests/%.o: CPPFLAGS_ALL += -Itests

# A change of flags or of the version rebuilds; an unchanged line leaves the stamp alone.
$(OUT)/.flags: FORCE
	@mkdir -p $(@D)
	@echo '$(subst ','\'',$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LDFLAGS_ALL))' | \
		cmp -s - $@ || echo '$(subst ','\'',$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LDFLAGS_ALL))' >$@

# ---- tests: one program a file --------------------------------------------------------------

.PHONY: unit sim
unit: $(UNIT_BIN)
sim: $(SIM_BIN)

$(UNIT_BIN): $(OUT)/%: $(OUT)/%.o $(LIB)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lcmocka $(DAEMON_LIBS)

$(SIM_BIN): $(call obj,$(SIM_SRC)) $(LIB)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ $(DAEMON_LIBS)

$(FUZZ_BIN): $(OUT)/%: $(OUT)/%.o $(LIB)
	$(CC) $(LDFLAGS_ALL) -fsanitize=fuzzer -o $@ $^ $(DAEMON_LIBS)

$(BENCH_BIN): $(OUT)/%: $(OUT)/%.o $(LIB)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ $(DAEMON_LIBS)

.PHONY: clean help
clean:
	rm -rf $(BUILD)

help:
	@sed -n 's/^## //p' Makefile

.SECONDARY:
-include $(shell test -d $(OUT) && find $(OUT) -name '*.d')
