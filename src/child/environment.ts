// Selects the environment variables of child processes. A script's process gets only common
// variables, no secrets of the operator. Store's own processes get all except STORE_* variables.

/** Variables for scripts. NODE_OPTIONS is not included: it is meant for the server. */
const scriptNames = new Set([
  ...["PATH", "HOME", "TMPDIR", "TZ", "LANG", "LANGUAGE", "TERM", "NO_COLOR", "FORCE_COLOR"],
  ...["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR", "LD_LIBRARY_PATH", "LD_PRELOAD"],
  ...["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "NODE_USE_ENV_PROXY"],
  ...["http_proxy", "https_proxy", "all_proxy", "no_proxy"],
]);

export function scriptEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return pick(environment, (name) => scriptNames.has(name) || name.startsWith("LC_"));
}

export function serverEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return pick(environment, (name) => !name.startsWith("STORE_"));
}

function pick(environment: NodeJS.ProcessEnv, isIncluded: (name: string) => boolean): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => isIncluded(name)));
}
