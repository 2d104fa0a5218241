# SPDX-License-Identifier: GPL-2.0-or-later
# One Makefile for the whole tree: no recursion, no configure step.
#
#   make deps      installs the Debian and npm packages that are missing
#   make           build/zonegated and build/zonegate
#   make demo      a gateway with live traffic to look at; Ctrl-C ends it
#   make test      all that CI runs; ends with "N passed, N failed, N skipped"
#   make lint      layers, budgets, format, both compilers
#   make format    clang-format over every C file
#   make fuzz      every fuzz target for FUZZ_SECONDS (60)
#   make fuzz-coverage   how many lines of the parsers the fuzz corpora reach
#   make bench     the figures beside their peers; LINE=n runs one
#   make install   DESTDIR, PREFIX (/usr)
#   make uninstall   the same; leaves the settings and the state (before: zonegate flush)
#   make clean     removes build/
#
# VARIANT=default|asan|fuzz|coverage builds into build/$(VARIANT)/; CC and BUILD can be given too. V=1 shows the commands.

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
MAKEFLAGS += --no-builtin-rules
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(JOBS)
endif
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:

OUT := $(BUILD)/$(VARIANT)

# One short line a step; V=1 shows the commands.
V ?= 0
say = $(if $(filter 0,$(V)),@printf '%-6s %s\n' $(1) $@;)

# ---- flags ----------------------------------------------------------------------------------

WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wpointer-arith -Wcast-qual -Wwrite-strings -Wformat=2 -Wundef -Wvla -Wswitch-enum \
	-Wconversion -Wsign-conversion -Wnull-dereference -Werror
HARDENING := -fstack-protector-strong -fPIE
OPTIMIZE := -O2 -g
# Unit tests are compiled more often than they run; FORTIFY wants some optimization.
UNIT_OPTIMIZE := -O0 -U_FORTIFY_SOURCE
FORTIFY := -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3
SANITIZE :=

ifeq ($(VARIANT),default)
else ifneq ($(filter $(VARIANT),asan fuzz),)
# Both have unit tests, plays and fuzz targets of the same objects: asan is made in a third of the time, for `make test`,
# and fuzz runs twice as fast, for `make fuzz`.
CC := $(CLANG)
OPTIMIZE := $(if $(filter asan,$(VARIANT)),-O0,-O1) -gline-tables-only -fno-omit-frame-pointer
UNIT_OPTIMIZE := -O0
FORTIFY := -U_FORTIFY_SOURCE
SANITIZE := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
else ifeq ($(VARIANT),coverage)
CC := $(CLANG)
OPTIMIZE := -O0 -g
UNIT_OPTIMIZE := -O0
FORTIFY := -U_FORTIFY_SOURCE
SANITIZE := -fprofile-instr-generate -fcoverage-mapping
else
$(error VARIANT is default, asan, fuzz or coverage, not "$(VARIANT)")
endif

# Debian ships no libev.pc: the plain library name stands in for it.
DAEMON_PKGS := libnl-3.0 libnl-genl-3.0 libipset libmicrohttpd jansson sqlite3 gnutls \
	libnghttp2 libcrypt inih
CLI_PKGS := jansson libcurl
PKG_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(DAEMON_PKGS) 2>/dev/null)
DAEMON_LIBS := $(shell $(PKG_CONFIG) --libs $(DAEMON_PKGS) 2>/dev/null) -lev -pthread -lm
CLI_LIBS := $(shell $(PKG_CONFIG) --libs $(CLI_PKGS) 2>/dev/null) -pthread

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
PRELOAD_SRC := $(filter tests/bench/preload_%,$(BENCH_SRC))

# The pages of the web UI, bundled and compressed, as a C file. Without node, or before `make deps`, a program without pages.
UI_C := $(OUT)/webui/ui_files.c
UI_SRC := $(sort $(wildcard webui/src/* webui/src/*/*) webui/build.mjs webui/package-lock.json)
UI_READY := $(if $(shell command -v node),$(wildcard webui/node_modules/.zonegate-lock))

obj = $(patsubst %.c,$(OUT)/%.o,$(1))
LIB := $(OUT)/libzonegate.a
CLI_LIB := $(OUT)/libzonegate-cli.a
UNIT_BIN := $(UNIT_SRC:%.c=$(OUT)/%)
FUZZ_BIN := $(FUZZ_SRC:%.c=$(OUT)/%)
BARE_BIN := $(addprefix $(OUT)/tests/bench/,bare_http_probe bare_kinds bare_streams bare_tcp_probe)
BENCH_BIN := $(patsubst %.c,$(OUT)/%,$(filter-out $(PRELOAD_SRC) %/bare_common.c,$(BENCH_SRC)))
PRELOAD_SO := $(PRELOAD_SRC:%.c=$(OUT)/%.so)
SIM_BIN := $(if $(SIM_SRC),$(OUT)/tests/sim/sim)

# ---- build ----------------------------------------------------------------------------------

.PHONY: all syntax FORCE
all: $(BUILD)/zonegated $(BUILD)/zonegate

# The two programs stand at build/ whatever the variant: links to the one built last.
$(BUILD)/zonegated $(BUILD)/zonegate: $(BUILD)/%: $(OUT)/% FORCE
	@test "$$(readlink $@)" = $(VARIANT)/$* || ln -sf $(VARIANT)/$* $@

$(LIB): $(call obj,$(LIB_SRC)) $(UI_C:.c=.o)

$(UI_C): $(UI_SRC) $(UI_READY)
	@mkdir -p $(@D)
ifneq ($(UI_READY),)
	$(call say,ui)node webui/build.mjs $@
else
	@echo 'The web UI is left out: make deps installs what it is built with.'
	@printf '%s\n' '#include "api/ui.h"' 'const struct ui_file *ui_files(size_t *ret_count)' \
		'{' '	*ret_count = 0;' '	return NULL;' '}' >$@
endif

$(UI_C:.c=.o): $(UI_C) $(OUT)/.flags
	$(call say,$(CC))$(COMPILE)

$(CLI_LIB): $(call obj,$(CLI_SRC))
$(LIB) $(CLI_LIB): $(OUT)/.sources
	@rm -f $@
	$(call say,ar)$(AR) rcs $@ $(filter %.o,$^)

$(OUT)/zonegated: $(OUT)/controller/main.o $(LIB)
	$(call say,link)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(DAEMON_LIBS)

$(OUT)/zonegate: $(call obj,$(CLI_SRC) $(BASE_SRC))
	$(call say,link)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(CLI_LIBS)

# Every file judged and, but for those that are compiled already, none compiled: what the lint asks the other compiler, whose
# warnings need no optimizer.
ALL_SRC = $(LIB_SRC) $(CLI_SRC) controller/main.c $(UNIT_SRC) $(SIM_SRC) $(FUZZ_SRC) $(BENCH_SRC) \
	tests/lint/reference.c
syntax: $(ALL_SRC:%.c=$(OUT)/%.judged)

# The libraries of controller/late by the names that a linker would note: those of the headers.
late_file = $(shell objdump -p "$$($(CC) -print-file-name=lib$(1).so)" 2>/dev/null | awk '$$1 == "SONAME" {print $$2}')
$(OUT)/controller/late/late.o $(OUT)/controller/late/late.judged: CPPFLAGS_ALL += \
	-DLATE_GNUTLS_FILE='"$(call late_file,gnutls)"' -DLATE_HTTP_FILE='"$(call late_file,microhttpd)"'

tests_flags = $(if $(filter tests/%,$<),-Itests)
unit_flags = $(if $(filter tests/unit/%,$<),$(UNIT_OPTIMIZE))

$(OUT)/%.judged: %.c $(OUT)/.flags
	@mkdir -p $(@D)
	$(call say,$(CC))$(CC) $(CPPFLAGS_ALL) $(tests_flags) $(CFLAGS_ALL) -fsyntax-only \
		-MMD -MP -MF $(@:.judged=.d) -MT $@ -MT $(@:.judged=.o) $< && touch $@

$(OUT)/%.o: %.c $(OUT)/.flags
	@mkdir -p $(@D)
	$(call say,$(CC))$(CC) $(CPPFLAGS_ALL) $(tests_flags) $(CFLAGS_ALL) $(unit_flags) \
		-MMD -MP -MT $@ -MT $(@:.o=.judged) -c -o $@ $< && touch $(@:.o=.judged)

# A change of flags, version or file list rebuilds; an unchanged line leaves the stamp alone.
FLAGS_LINE = $(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(UNIT_OPTIMIZE) $(LDFLAGS_ALL)
$(OUT)/.flags: LINE_NOW = $(FLAGS_LINE)
$(OUT)/.sources: LINE_NOW = $(LIB_SRC) $(CLI_SRC)
$(OUT)/.flags $(OUT)/.sources: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' $(call quote,$(LINE_NOW)) | cmp -s - $@ || \
		printf '%s\n' $(call quote,$(LINE_NOW)) >$@

quote = '$(subst ','\'',$(1))'

# ---- test programs: one a file, all linked with the archive -----------------------------------

# Hundreds of links, and lld takes a third of the time. What is installed is linked as usual.
TEST_LINK := $(if $(shell command -v ld.lld),-fuse-ld=lld)

.PHONY: unit sim fuzzers benches
unit: $(UNIT_BIN)
sim: $(SIM_BIN)
fuzzers: $(FUZZ_BIN)
benches: $(BENCH_BIN) $(PRELOAD_SO)

# The CLI's archive too: its files have unit tests like all others (--as-needed drops the rest).
$(UNIT_BIN): $(OUT)/%: $(OUT)/%.o $(CLI_LIB) $(LIB)
	$(call say,link)$(CC) $(LDFLAGS_ALL) $(TEST_LINK) -o $@ $^ -lcmocka $(DAEMON_LIBS) $(CLI_LIBS)

$(SIM_BIN): $(call obj,$(SIM_SRC)) $(LIB)
	$(call say,link)$(CC) $(LDFLAGS_ALL) $(TEST_LINK) -o $@ $^ $(DAEMON_LIBS)

$(FUZZ_BIN): $(OUT)/%: $(OUT)/%.o $(LIB)
	$(call say,link)$(CC) $(LDFLAGS_ALL) $(TEST_LINK) -fsanitize=fuzzer -o $@ $^ $(DAEMON_LIBS)

$(BARE_BIN): $(OUT)/tests/bench/bare_common.o
$(BENCH_BIN): $(OUT)/%: $(OUT)/%.o $(LIB)
	$(call say,link)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(DAEMON_LIBS)

$(PRELOAD_SO): $(OUT)/%.so: %.c $(OUT)/.flags
	@mkdir -p $(@D)
	$(call say,$(CC))$(CC) $(CPPFLAGS_ALL) $(filter-out -fPIE,$(CFLAGS_ALL)) -fPIC -shared -MMD -MP -o $@ $< -ldl

# ---- what a person calls ------------------------------------------------------------------------

# After `deps` a new make is started: pkg-config's answers of before are void.
AGAIN = +$(MAKE) --no-print-directory

.PHONY: deps demo test lint reference format bench fuzz fuzz-coverage install uninstall clean help
deps:
	@.ci/deps

demo: deps
	$(AGAIN) all
	@BUILD=$(BUILD) tests/demo/run

test: deps
	@MAKE="$(MAKE)" BUILD=$(BUILD) REPLAY_SECONDS=$(REPLAY_SECONDS) tests/run $(STAGES)

# Prints the program's tables, for the lint to compare the documents with; `make reference` writes
# them into the documents.
REFERENCE := $(OUT)/tests/lint/reference
$(REFERENCE): $(OUT)/%: $(OUT)/%.o $(LIB)
	$(call say,link)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(DAEMON_LIBS)

reference: all $(REFERENCE)
	@BUILD=$(BUILD) tests/lint/run --write-references

lint: all $(REFERENCE)
	@MAKE="$(MAKE)" BUILD=$(BUILD) CLANG=$(CLANG) tests/lint/run

format:
	find controller tests -name '*.[ch]' | xargs clang-format -i

bench: deps
	@.ci/deps bench
	$(AGAIN) all benches
	@BUILD=$(BUILD) OUT=$(OUT) LINE=$(LINE) tests/bench/run

fuzz:
	$(AGAIN) VARIANT=fuzz fuzzers
	@tests/fuzz/planted -o $(BUILD)/fuzz
	@tests/fuzz/run -s $(FUZZ_SECONDS) -o $(BUILD)/fuzz

fuzz-coverage:
	$(AGAIN) VARIANT=coverage fuzzers
	@tests/fuzz/coverage -o $(BUILD)/coverage

SYSCONFDIR ?= /etc
MAN := $(wildcard controller/man/*.[1-8])
man_place = $(DESTDIR)$(PREFIX)/share/man/man$(patsubst .%,%,$(suffix $(1)))/$(notdir $(1))
# For monitoring: rules of alerts, a board.
SHARE := $(DESTDIR)$(PREFIX)/share/zonegate
SHARED := conf/prometheus/zonegate.rules.yml conf/grafana/zonegate.json
UNIT_PLACE := $(DESTDIR)$(PREFIX)/lib/systemd/system/zonegate.service
# Printed by the program itself.
COMPLETION_bash := $(DESTDIR)$(PREFIX)/share/bash-completion/completions/zonegate
COMPLETION_zsh := $(DESTDIR)$(PREFIX)/share/zsh/vendor-completions/_zonegate
COMPLETION_fish := $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/zonegate.fish
INSTALLED := $(DESTDIR)$(PREFIX)/sbin/zonegated $(DESTDIR)$(PREFIX)/bin/zonegate $(UNIT_PLACE) \
	$(DESTDIR)$(PREFIX)/lib/sysusers.d/zonegate.conf $(DESTDIR)$(PREFIX)/lib/modules-load.d/zonegate.conf \
	$(DESTDIR)$(PREFIX)/lib/tmpfiles.d/zonegate.conf \
	$(foreach m,$(MAN),$(call man_place,$(m))) \
	$(foreach s,bash zsh fish,$(COMPLETION_$(s))) \
	$(SHARED:conf/%=$(SHARE)/%)
# Each line is said in short, as those of the build are. $(call put,MODE,FROM,TO)
quiet := $(if $(filter 0,$(V)),@)
put = $(if $(filter 0,$(V)),printf '%-6s %s\n' put $(3) &&) install -D -m $(1) $(2) $(3)
install: all
	$(quiet)$(call put,755,$(OUT)/zonegated,$(DESTDIR)$(PREFIX)/sbin/zonegated)
	$(quiet)$(call put,755,$(OUT)/zonegate,$(DESTDIR)$(PREFIX)/bin/zonegate)
	$(quiet)$(call put,644,systemd/zonegate.service,$(UNIT_PLACE))
	$(quiet)sed -i 's,/usr/sbin/zonegated,$(PREFIX)/sbin/zonegated,; s,/etc/zonegate,$(SYSCONFDIR)/zonegate,' \
		$(UNIT_PLACE)
	$(quiet)$(call put,644,systemd/zonegate.sysusers,$(DESTDIR)$(PREFIX)/lib/sysusers.d/zonegate.conf)
	$(quiet)$(call put,644,systemd/zonegate.modules-load,$(DESTDIR)$(PREFIX)/lib/modules-load.d/zonegate.conf)
	$(quiet)$(call put,644,systemd/zonegate.tmpfiles,$(DESTDIR)$(PREFIX)/lib/tmpfiles.d/zonegate.conf)
	$(quiet)install -d $(DESTDIR)$(SYSCONFDIR)/zonegate/conf.d
	$(quiet)test -e $(DESTDIR)$(SYSCONFDIR)/zonegate/zonegate.conf || \
		{ $(call put,644,conf/zonegate.conf,$(DESTDIR)$(SYSCONFDIR)/zonegate/zonegate.conf); }
	$(quiet)$(foreach m,$(MAN),$(call put,644,$(m),$(call man_place,$(m))) &&) true
	$(quiet)$(foreach f,$(SHARED),$(call put,644,$(f),$(f:conf/%=$(SHARE)/%)) &&) true
	$(quiet)$(foreach s,bash zsh fish,$(call put,644,/dev/null,$(COMPLETION_$(s))) && \
		$(OUT)/zonegate completion $(s) >$(COMPLETION_$(s)) &&) true
	@test -n "$(UI_READY)" || echo 'The web UI is left out: make deps && make && make install puts it, too.'
	@test -n "$(DESTDIR)" || printf '%s\n' 'Installed. Next, as root:' \
		'  systemd-sysusers && systemd-tmpfiles --create zonegate.conf && systemctl restart systemd-modules-load' \
		'  systemctl daemon-reload && systemctl enable --now zonegate' '  zonegate status'

# The settings, the state and the user stay.
uninstall:
	$(quiet)rm -f $(INSTALLED)
	$(quiet)test ! -d $(SHARE) || find $(SHARE) -depth -type d -empty -delete
	@test -n "$(DESTDIR)" || printf '%s\n' 'Removed. Left: $(SYSCONFDIR)/zonegate, /var/lib/zonegate, the user zonegate,' \
		'and what is in the kernel, unless zonegate flush was run before.'

clean:
	rm -rf $(BUILD)

help:
	@sed -n '3,/^$$/s/^# \{0,1\}//p' $(firstword $(MAKEFILE_LIST))

.SECONDARY:
-include $(shell test -d $(OUT) && find $(OUT) -name '*.d')
