/* SPDX-License-Identifier: GPL-2.0-or-later */
/* GnuTLS, loaded when its first function is called: see late.h. The calls look as always. */
#ifndef ZG_LATE_LATE_GNUTLS_H
#define ZG_LATE_LATE_GNUTLS_H

#include <gnutls/abstract.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

#define LATE_GNUTLS(F)                                  \
	F(gnutls_alert_get)                             \
	F(gnutls_alert_get_name)                        \
	F(gnutls_bye)                                   \
	F(gnutls_certificate_allocate_credentials)      \
	F(gnutls_certificate_free_credentials)          \
	F(gnutls_certificate_set_x509_system_trust)     \
	F(gnutls_certificate_set_x509_trust_file)       \
	F(gnutls_certificate_verification_status_print) \
	F(gnutls_credentials_set)                       \
	F(gnutls_deinit)                                \
	F(gnutls_error_is_fatal)                        \
	F(gnutls_free)                                  \
	F(gnutls_handshake)                             \
	F(gnutls_hash_fast)                             \
	F(gnutls_hmac)                                  \
	F(gnutls_hmac_deinit)                           \
	F(gnutls_hmac_init)                             \
	F(gnutls_init)                                  \
	F(gnutls_memcmp)                                \
	F(gnutls_pcert_deinit)                          \
	F(gnutls_pcert_import_x509)                     \
	F(gnutls_priority_deinit)                       \
	F(gnutls_priority_init)                         \
	F(gnutls_priority_set)                          \
	F(gnutls_privkey_deinit)                        \
	F(gnutls_privkey_import_x509)                   \
	F(gnutls_privkey_init)                          \
	F(gnutls_record_recv)                           \
	F(gnutls_record_send)                           \
	F(gnutls_rnd)                                   \
	F(gnutls_server_name_set)                       \
	F(gnutls_session_get_desc)                      \
	F(gnutls_session_get_ptr)                       \
	F(gnutls_session_get_verify_cert_status)        \
	F(gnutls_session_set_verify_cert)               \
	F(gnutls_strerror)                              \
	F(gnutls_transport_set_errno)                   \
	F(gnutls_transport_set_ptr)                     \
	F(gnutls_transport_set_pull_function)           \
	F(gnutls_transport_set_vec_push_function)       \
	F(gnutls_x509_crt_check_issuer)                 \
	F(gnutls_x509_crt_deinit)                       \
	F(gnutls_x509_crt_export2)                      \
	F(gnutls_x509_crt_get_dn)                       \
	F(gnutls_x509_crt_get_expiration_time)          \
	F(gnutls_x509_crt_get_fingerprint)              \
	F(gnutls_x509_crt_get_key_id)                   \
	F(gnutls_x509_crt_init)                         \
	F(gnutls_x509_crt_list_import2)                 \
	F(gnutls_x509_crt_set_activation_time)          \
	F(gnutls_x509_crt_set_basic_constraints)        \
	F(gnutls_x509_crt_set_dn_by_oid)                \
	F(gnutls_x509_crt_set_expiration_time)          \
	F(gnutls_x509_crt_set_key)                      \
	F(gnutls_x509_crt_set_key_purpose_oid)          \
	F(gnutls_x509_crt_set_key_usage)                \
	F(gnutls_x509_crt_set_serial)                   \
	F(gnutls_x509_crt_set_subject_alt_name)         \
	F(gnutls_x509_crt_set_subject_key_id)           \
	F(gnutls_x509_crt_set_version)                  \
	F(gnutls_x509_crt_sign2)                        \
	F(gnutls_x509_privkey_deinit)                   \
	F(gnutls_x509_privkey_export2)                  \
	F(gnutls_x509_privkey_generate)                 \
	F(gnutls_x509_privkey_get_key_id)               \
	F(gnutls_x509_privkey_import2)                  \
	F(gnutls_x509_privkey_init)

#define LATE_MEMBER(name) __typeof__(name) *(name);
struct late_gnutls {
	LATE_GNUTLS(LATE_MEMBER)
};
#undef LATE_MEMBER

/* Loads the library if it is not there yet. */
const struct late_gnutls *late_gnutls(void);

#define gnutls_alert_get      (*late_gnutls()->gnutls_alert_get)
#define gnutls_alert_get_name (*late_gnutls()->gnutls_alert_get_name)
#define gnutls_bye            (*late_gnutls()->gnutls_bye)
#define gnutls_certificate_allocate_credentials \
	(*late_gnutls()->gnutls_certificate_allocate_credentials)
#define gnutls_certificate_free_credentials (*late_gnutls()->gnutls_certificate_free_credentials)
#define gnutls_certificate_set_x509_system_trust \
	(*late_gnutls()->gnutls_certificate_set_x509_system_trust)
#define gnutls_certificate_set_x509_trust_file \
	(*late_gnutls()->gnutls_certificate_set_x509_trust_file)
#define gnutls_certificate_verification_status_print \
	(*late_gnutls()->gnutls_certificate_verification_status_print)
#define gnutls_credentials_set     (*late_gnutls()->gnutls_credentials_set)
#define gnutls_deinit              (*late_gnutls()->gnutls_deinit)
#define gnutls_error_is_fatal      (*late_gnutls()->gnutls_error_is_fatal)
#define gnutls_free                (*late_gnutls()->gnutls_free)
#define gnutls_handshake           (*late_gnutls()->gnutls_handshake)
#define gnutls_hash_fast           (*late_gnutls()->gnutls_hash_fast)
#define gnutls_hmac                (*late_gnutls()->gnutls_hmac)
#define gnutls_hmac_deinit         (*late_gnutls()->gnutls_hmac_deinit)
#define gnutls_hmac_init           (*late_gnutls()->gnutls_hmac_init)
#define gnutls_init                (*late_gnutls()->gnutls_init)
#define gnutls_memcmp              (*late_gnutls()->gnutls_memcmp)
#define gnutls_pcert_deinit        (*late_gnutls()->gnutls_pcert_deinit)
#define gnutls_pcert_import_x509   (*late_gnutls()->gnutls_pcert_import_x509)
#define gnutls_priority_deinit     (*late_gnutls()->gnutls_priority_deinit)
#define gnutls_priority_init       (*late_gnutls()->gnutls_priority_init)
#define gnutls_priority_set        (*late_gnutls()->gnutls_priority_set)
#define gnutls_privkey_deinit      (*late_gnutls()->gnutls_privkey_deinit)
#define gnutls_privkey_import_x509 (*late_gnutls()->gnutls_privkey_import_x509)
#define gnutls_privkey_init        (*late_gnutls()->gnutls_privkey_init)
#define gnutls_record_recv         (*late_gnutls()->gnutls_record_recv)
#define gnutls_record_send         (*late_gnutls()->gnutls_record_send)
#define gnutls_rnd                 (*late_gnutls()->gnutls_rnd)
#define gnutls_server_name_set     (*late_gnutls()->gnutls_server_name_set)
#define gnutls_session_get_desc    (*late_gnutls()->gnutls_session_get_desc)
#define gnutls_session_get_ptr     (*late_gnutls()->gnutls_session_get_ptr)
#define gnutls_session_get_verify_cert_status \
	(*late_gnutls()->gnutls_session_get_verify_cert_status)
#define gnutls_session_set_verify_cert     (*late_gnutls()->gnutls_session_set_verify_cert)
#define gnutls_strerror                    (*late_gnutls()->gnutls_strerror)
#define gnutls_transport_set_errno         (*late_gnutls()->gnutls_transport_set_errno)
#define gnutls_transport_set_ptr           (*late_gnutls()->gnutls_transport_set_ptr)
#define gnutls_transport_set_pull_function (*late_gnutls()->gnutls_transport_set_pull_function)
#define gnutls_transport_set_vec_push_function \
	(*late_gnutls()->gnutls_transport_set_vec_push_function)
#define gnutls_x509_crt_check_issuer        (*late_gnutls()->gnutls_x509_crt_check_issuer)
#define gnutls_x509_crt_deinit              (*late_gnutls()->gnutls_x509_crt_deinit)
#define gnutls_x509_crt_export2             (*late_gnutls()->gnutls_x509_crt_export2)
#define gnutls_x509_crt_get_dn              (*late_gnutls()->gnutls_x509_crt_get_dn)
#define gnutls_x509_crt_get_expiration_time (*late_gnutls()->gnutls_x509_crt_get_expiration_time)
#define gnutls_x509_crt_get_fingerprint     (*late_gnutls()->gnutls_x509_crt_get_fingerprint)
#define gnutls_x509_crt_get_key_id          (*late_gnutls()->gnutls_x509_crt_get_key_id)
#define gnutls_x509_crt_init                (*late_gnutls()->gnutls_x509_crt_init)
#define gnutls_x509_crt_list_import2        (*late_gnutls()->gnutls_x509_crt_list_import2)
#define gnutls_x509_crt_set_activation_time (*late_gnutls()->gnutls_x509_crt_set_activation_time)
#define gnutls_x509_crt_set_basic_constraints \
	(*late_gnutls()->gnutls_x509_crt_set_basic_constraints)
#define gnutls_x509_crt_set_dn_by_oid        (*late_gnutls()->gnutls_x509_crt_set_dn_by_oid)
#define gnutls_x509_crt_set_expiration_time  (*late_gnutls()->gnutls_x509_crt_set_expiration_time)
#define gnutls_x509_crt_set_key              (*late_gnutls()->gnutls_x509_crt_set_key)
#define gnutls_x509_crt_set_key_purpose_oid  (*late_gnutls()->gnutls_x509_crt_set_key_purpose_oid)
#define gnutls_x509_crt_set_key_usage        (*late_gnutls()->gnutls_x509_crt_set_key_usage)
#define gnutls_x509_crt_set_serial           (*late_gnutls()->gnutls_x509_crt_set_serial)
#define gnutls_x509_crt_set_subject_alt_name (*late_gnutls()->gnutls_x509_crt_set_subject_alt_name)
#define gnutls_x509_crt_set_subject_key_id   (*late_gnutls()->gnutls_x509_crt_set_subject_key_id)
#define gnutls_x509_crt_set_version          (*late_gnutls()->gnutls_x509_crt_set_version)
#define gnutls_x509_crt_sign2                (*late_gnutls()->gnutls_x509_crt_sign2)
#define gnutls_x509_privkey_deinit           (*late_gnutls()->gnutls_x509_privkey_deinit)
#define gnutls_x509_privkey_export2          (*late_gnutls()->gnutls_x509_privkey_export2)
#define gnutls_x509_privkey_generate         (*late_gnutls()->gnutls_x509_privkey_generate)
#define gnutls_x509_privkey_get_key_id       (*late_gnutls()->gnutls_x509_privkey_get_key_id)
#define gnutls_x509_privkey_import2          (*late_gnutls()->gnutls_x509_privkey_import2)
#define gnutls_x509_privkey_init             (*late_gnutls()->gnutls_x509_privkey_init)

#endif
