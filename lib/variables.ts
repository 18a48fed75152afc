const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/** Set by the sandbox itself, or read by its shell and its dynamic loader before a command runs. */
const RESERVED = new Set([
  ...['PATH', 'HOME', 'PWD', 'OLDPWD', 'SHELL', 'USER', 'LOGNAME', 'TMPDIR', 'IFS', 'ENV'],
  ...['BASH_ENV', 'BASHOPTS', 'SHELLOPTS', 'PS4', 'PROMPT_COMMAND'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'],
  // The trust store of each program, which must have the certificate authority of the sandbox's proxy.
  ...['SSL_CERT_FILE', 'CURL_CA_BUNDLE', 'GIT_SSL_CAINFO', 'REQUESTS_CA_BUNDLE', 'PIP_CERT', 'AWS_CA_BUNDLE'],
  ...['CARGO_HTTP_CAINFO', 'DENO_CERT', 'npm_config_cafile', 'NODE_EXTRA_CA_CERTS'],
]);
const RESERVED_PREFIXES = ['LD_', 'BASH_FUNC_', 'AHS_', 'GIT_CONFIG_'];

/** Returns the problem of the name of an environment variable. A reserved name is one that the sandbox sets itself. */
export function variableNameProblem(name: string): 'malformed' | 'reserved' | undefined {
  if (!NAME.test(name)) return 'malformed';
  return isReserved(name) ? 'reserved' : undefined;
}

/** Proxy variables are reserved in lower case, too. */
function isReserved(name: string): boolean {
  const upper = name.toUpperCase();
  if (upper.endsWith('_PROXY')) return RESERVED.has(upper);
  return RESERVED.has(name) || RESERVED_PREFIXES.some((prefix) => name.startsWith(prefix));
}
