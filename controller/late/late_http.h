/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libmicrohttpd, loaded when its first function is called: see late.h. The calls look as always. */
#ifndef ZG_LATE_LATE_HTTP_H
#define ZG_LATE_LATE_HTTP_H

#include <microhttpd.h>

#define LATE_HTTP(F)                                              \
	F(MHD_add_connection)                                     \
	F(MHD_add_response_header)                                \
	F(MHD_create_response_from_buffer_with_free_callback_cls) \
	F(MHD_create_response_from_callback)                      \
	F(MHD_destroy_response)                                   \
	F(MHD_get_connection_info)                                \
	F(MHD_get_connection_values)                              \
	F(MHD_get_daemon_info)                                    \
	F(MHD_get_reason_phrase_for)                              \
	F(MHD_get_timeout)                                        \
	F(MHD_get_version)                                        \
	F(MHD_queue_response)                                     \
	F(MHD_resume_connection)                                  \
	F(MHD_run)                                                \
	F(MHD_start_daemon)                                       \
	F(MHD_stop_daemon)                                        \
	F(MHD_suspend_connection)

#define LATE_MEMBER(name) __typeof__(name) *(name);
struct late_http {
	LATE_HTTP(LATE_MEMBER)
};
#undef LATE_MEMBER

/* Loads the library if it is not there yet. */
const struct late_http *late_http(void);

#define MHD_add_connection      (*late_http()->MHD_add_connection)
#define MHD_add_response_header (*late_http()->MHD_add_response_header)
#define MHD_create_response_from_buffer_with_free_callback_cls \
	(*late_http()->MHD_create_response_from_buffer_with_free_callback_cls)
#define MHD_create_response_from_callback (*late_http()->MHD_create_response_from_callback)
#define MHD_destroy_response              (*late_http()->MHD_destroy_response)
#define MHD_get_connection_info           (*late_http()->MHD_get_connection_info)
#define MHD_get_connection_values         (*late_http()->MHD_get_connection_values)
#define MHD_get_daemon_info               (*late_http()->MHD_get_daemon_info)
#define MHD_get_reason_phrase_for         (*late_http()->MHD_get_reason_phrase_for)
#define MHD_get_timeout                   (*late_http()->MHD_get_timeout)
#define MHD_get_version                   (*late_http()->MHD_get_version)
#define MHD_queue_response                (*late_http()->MHD_queue_response)
#define MHD_resume_connection             (*late_http()->MHD_resume_connection)
#define MHD_run                           (*late_http()->MHD_run)
#define MHD_start_daemon                  (*late_http()->MHD_start_daemon)
#define MHD_stop_daemon                   (*late_http()->MHD_stop_daemon)
#define MHD_suspend_connection            (*late_http()->MHD_suspend_connection)

#endif
