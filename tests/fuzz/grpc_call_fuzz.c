// SPDX-License-Identifier: GPL-2.0-or-later
// What a gRPC server may send: as frames, with the same end however they are cut; and the parts of it by themselves, the
// message and the text. First byte: 0 = frames as they are, 1 = frames behind the settings that every server begins
// with, 2 = a message, 3 = a text.
#include "probe/grpc_call.h"
#include "probe/grpc_message.h"

#include <assert.h>
#include <string.h>

static const uint8_t settings[] = {0, 0, 0, 4, 0, 0, 0, 0, 0};

/* Sends nothing: what the client says is of no interest, but it must be possible to say it. */
static void drain(struct grpc_call *c)
{
	const uint8_t *bytes;
	size_t size;

	for (int i = 0; i < 10000 && (size = grpc_call_output(c, &bytes)); i++)
		assert(bytes);
}

static enum grpc_progress take(const uint8_t *data, size_t size, size_t step, bool with_settings,
			       struct grpc_answer *ret_answer)
{
	struct grpc_call *c = grpc_call_new("192.0.2.1:50051", "shop");
	enum grpc_progress progress = GRPC_MORE;

	drain(c);
	if (with_settings)
		progress = grpc_call_feed(c, settings, sizeof(settings));
	for (size_t at = 0; at < size && progress == GRPC_MORE; at += step) {
		progress = grpc_call_feed(c, data + at, size - at < step ? size - at : step);
		drain(c);
		if (progress == GRPC_MORE && grpc_call_is_broken(c))
			progress = GRPC_BROKEN;
	}
	if (progress == GRPC_MORE)
		progress = grpc_call_end(c);
	*ret_answer = *grpc_call_answer(c);
	assert(progress != GRPC_MORE);
	assert(memchr(ret_answer->text, '\0', sizeof(ret_answer->text)) && ret_answer->text[0]);
	grpc_call_free(c);
	return progress;
}

static void try_frames(const uint8_t *data, size_t size, bool with_settings)
{
	struct grpc_answer whole;
	struct grpc_answer cut;

	take(data, size, size ? size : 1, with_settings, &whole);
	take(data, size, size > 1024 ? size / 16 : 1, with_settings, &cut);
}

static void try_message(const uint8_t *data, size_t size)
{
	uint64_t serving = 77;
	const char *fault = grpc_message_read(data, size, &serving);

	assert(!fault || serving == 77);
	if (!fault)
		grpc_message_serving_name(serving);
}

static void try_text(const uint8_t *data, size_t size)
{
	unsigned status = 77;
	char buf[100];

	if (!grpc_message_parse_status(data, size, &status))
		assert(status == 77);
	grpc_message_status_name(status);
	grpc_message_decode_text(data, size, buf, sizeof(buf));
	for (const char *p = buf; *p; p++)
		assert(*p >= 0x20 && *p <= 0x7e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	switch (data[0] & 3) {
	case 2:
		try_message(data + 1, size - 1);
		return 0;
	case 3:
		try_text(data + 1, size - 1);
		return 0;
	default:
		try_frames(data + 1, size - 1, data[0] & 1);
		return 0;
	}
}
