/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What gRPC puts into the bodies and headers of the health protocol, grpc.health.v1: two messages of protobuf with one field
 * each, and status codes with their texts. No I/O. */
#ifndef ZG_PROBE_GRPC_MESSAGE_H
#define ZG_PROBE_GRPC_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/model.h"

#define GRPC_PREFIX       5
#define GRPC_REQUEST_MAX  (GRPC_PREFIX + 3 + MODEL_TEXT_MAX)
#define GRPC_RESPONSE_MAX 1024 /* of the whole body; two bytes would do */

/* Of HealthCheckResponse; servers may send others. */
enum grpc_serving { GRPC_UNKNOWN, GRPC_SERVING, GRPC_NOT_SERVING, GRPC_SERVICE_UNKNOWN };

/* HealthCheckRequest with its prefix; returns the size. `service` may be NULL: the server as a whole. */
size_t grpc_message_write(const char *service, uint8_t buf[GRPC_REQUEST_MAX]);

/* The body of an answer: exactly one HealthCheckResponse with its prefix. Returns NULL, or what is wrong with it. */
const char *grpc_message_read(const uint8_t *body, size_t size, uint64_t *ret_serving);

/* "SERVING", "NOT_SERVING" …; a number beyond gives NULL. */
const char *grpc_message_serving_name(uint64_t serving);
/* "OK", "UNIMPLEMENTED" …; a number beyond gives NULL. */
const char *grpc_message_status_name(unsigned status);

/* The value of grpc-status: a decimal number. */
bool grpc_message_parse_status(const uint8_t *value, size_t size, unsigned *ret_status);

/* The value of grpc-message, whose %XX are decoded, printable, cut to the buffer. */
void grpc_message_decode_text(const uint8_t *value, size_t value_size, char *buf, size_t size);

#endif
