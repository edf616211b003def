// Compatibility flags of Cloudflare Workers, for which wrangler files are written. Store always
// behaves as with a recent date; the list is needed to detect mistyped flags.

/** Flags that enable a change; each also has a flag that disables it. */
const flagPairs = `
  nodejs_compat/no_nodejs_compat nodejs_compat_v2/no_nodejs_compat_v2 nodejs_als/no_nodejs_als
  nodejs_zlib/no_nodejs_zlib enable_nodejs_global_timers/no_nodejs_global_timers
  nodejs_compat_populate_process_env/nodejs_compat_do_not_populate_process_env
  enable_nodejs_process_v2/disable_nodejs_process_v2 enable_nodejs_fs_module/disable_nodejs_fs_module
  enable_nodejs_os_module/disable_nodejs_os_module enable_nodejs_http_modules/disable_nodejs_http_modules
  enable_nodejs_http_server_modules/disable_nodejs_http_server_modules
  enable_nodejs_http2_module/disable_nodejs_http2_module enable_nodejs_tty_module/disable_nodejs_tty_module
  enable_nodejs_console_module/disable_nodejs_console_module enable_nodejs_vm_module/disable_nodejs_vm_module
  enable_nodejs_perf_hooks_module/disable_nodejs_perf_hooks_module
  enable_nodejs_punycode_module/disable_nodejs_punycode_module
  enable_nodejs_readline_module/disable_nodejs_readline_module
  enable_nodejs_worker_threads_module/disable_nodejs_worker_threads_module
  enable_nodejs_child_process_module/disable_nodejs_child_process_module
  enable_nodejs_sqlite_module/disable_nodejs_sqlite_module enable_nodejs_v8_module/disable_nodejs_v8_module
  global_fetch_strictly_public/global_fetch_private_origin fetch_standard_url/fetch_legacy_url
  fetch_refuses_unknown_protocols/fetch_treats_unknown_protocols_as_http
  url_standard/url_original urlpattern_standard/urlpattern_original
  urlsearchparams_delete_has_value_arg/no_urlsearchparams_delete_has_value_arg
  streams_enable_constructors/streams_disable_constructors
  transformstream_enable_standard_constructor/transformstream_disable_standard_constructor
  streams_byob_reader_detaches_buffer/streams_byob_reader_does_not_detach_buffer
  internal_stream_byob_return_view/internal_stream_byob_return_undefined
  formdata_parser_supports_files/formdata_parser_converts_files_to_strings
  html_rewriter_treats_esi_include_as_void_tag/no_html_rewriter_treats_esi_include_as_void_tag
  http_headers_getsetcookie/no_http_headers_getsetcookie global_navigator/no_global_navigator
  enable_navigator_language/disable_navigator_language brotli_content_encoding/no_brotli_content_encoding
  cache_option_enabled/cache_option_disabled cache_no_cache_enabled/cache_no_cache_disabled
  cache_reload_enabled/cache_reload_disabled cache_api_compat_flags/no_cache_api_compat_flags
  capture_async_api_throws/do_not_capture_async_api_throws export_commonjs_default/export_commonjs_namespace
  require_returns_default_export/require_returns_namespace allow_importable_env/disallow_importable_env
  allow_eval_during_startup/disallow_eval_during_startup allow_custom_ports/ignore_custom_ports
  enable_request_signal/disable_request_signal request_signal_passthrough/no_request_signal_passthrough
  enable_abortsignal_rpc/no_enable_abortsignal_rpc enable_ctx_exports/disable_ctx_exports
  enable_weak_ref/disable_weak_ref rpc/no_rpc fetcher_no_get_put_delete/fetcher_has_get_put_delete
  durable_object_fetch_requires_full_url/durable_object_fetch_allows_relative_url
  durable_object_get_existing/no_durable_object_get_existing durable_object_rename/no_durable_object_rename
  queues_json_messages/no_queues_json_messages vectorize_query_metadata_optional/vectorize_query_original
  response_redirect_url_standard/response_redirect_url_original blob_standard_mime_type/blob_legacy_mime_type
  strip_bom_in_read_all_text/do_not_strip_bom_in_read_all_text set_tostring_tag/do_not_set_tostring_tag
  strict_crypto_checks/no_strict_crypto_checks strict_compression_checks/no_strict_compression_checks
  upper_case_all_http_methods/no_upper_case_all_http_methods
  strip_authorization_on_cross_origin_redirect/retain_authorization_on_cross_origin_redirect
  handle_cross_request_promise_resolution/no_handle_cross_request_promise_resolution
  web_socket_compression/no_web_socket_compression unwrap_custom_thenables/no_unwrap_custom_thenables
  web_socket_auto_reply_to_close/web_socket_manual_reply_to_close
  workers_api_getters_setters_on_prototype/workers_api_getters_setters_on_instance
  minimal_subrequests/no_minimal_subrequests cots_on_external_fetch/no_cots_on_external_fetch
  assets_navigation_prefers_asset_serving/assets_navigation_has_no_effect
  dynamic_dispatch_tunnel_exceptions/dynamic_dispatch_treat_exceptions_as_500
  substitute_null_on_type_error/dont_substitute_null_on_type_error
  r2_list_honor_include/no_r2_list_honor_include r2_public_beta_bindings/r2_internal_beta_bindings
  python_workers/no_python_workers python_workflows/disable_python_workflows
  new_module_registry/legacy_module_registry enhanced_error_serialization/legacy_error_serialization
`;

const singleFlags = `
  experimental service_binding_extra_handlers tcp_sockets_support webgpu js_rpc kv_direct_binding
  enable_web_file_system expose_global_message_channel precise_timers no_precise_timers typescript_strip_types
  allow_irrevocable_stub_storage nonclass_entrypoint_reuses_ctx_across_invocations unsafe_module
  python_workers_development streaming_tail_worker memory_cache_delete rtti_api
`;

const platformFlags: ReadonlySet<string> = new Set(`${flagPairs} ${singleFlags}`.trim().split(/[\s/]+/));

/** Flags of the platform and the flag of Store with the same effect. */
const equivalentFlags: Readonly<Record<string, string>> = {
  r2_list_honor_include: "store_list_honor_include",
};

/** Translates the flags of a wrangler file to Store's flags where they exist. */
export function wranglerFlags(flags: unknown, note: (text: string) => void): unknown {
  if (flags !== undefined && !Array.isArray(flags)) return flags;
  const flagList: readonly unknown[] = flags ?? [];
  const unknown = flagList.filter((flag) => typeof flag === "string" && !platformFlags.has(flag));
  if (unknown.length > 0) note(`these compatibility flags are not known: ${unknown.join(", ")}.`);
  // Projects rely on this flag to block requests to private addresses, which Store does not do.
  if (flagList.includes("global_fetch_strictly_public")) {
    note("global_fetch_strictly_public is not enforced: fetch reaches private addresses too.");
  }
  const storeFlags = flagList.map((flag) =>
    typeof flag === "string" ? (equivalentFlags[flag] ?? flag) : flag,
  );
  // Scripts for Cloudflare Workers expect the trailing delimiter in listed prefixes: "a/".
  return [...storeFlags, "store_delimited_prefixes_keep_delimiter"];
}
