import type { EgressCredentials } from './egress-credentials.ts';

/** The directory, as commands see it, with the certificates that they trust. */
export const TRUST_PATH = '/run/ahs';
export const BUNDLE_NAME = 'ca-bundle.pem';
export const CERTIFICATE_NAME = 'proxy-ca.pem';

const GIT_USER = 'x-access-token';

/** Variables with the path of the bundle, which replaces the trusted certificates of a program. */
const BUNDLE_VARIABLES = [
  'SSL_CERT_FILE',
  'CURL_CA_BUNDLE',
  'GIT_SSL_CAINFO',
  'REQUESTS_CA_BUNDLE',
  'PIP_CERT',
  'AWS_CA_BUNDLE',
  'CARGO_HTTP_CAINFO',
  'DENO_CERT',
  'npm_config_cafile',
];

/**
 * Returns the environment variables of a command that uses credentials: the placeholders, the certificates that programs
 * trust, and a configuration of git. None of them is secret.
 */
export function egressVariables({ variables }: Pick<EgressCredentials, 'variables'>): Record<string, string> {
  const bundle = `${TRUST_PATH}/${BUNDLE_NAME}`;
  return {
    ...Object.fromEntries(variables.map(({ name, placeholder }) => [name, placeholder])),
    ...Object.fromEntries(BUNDLE_VARIABLES.map((name) => [name, bundle])),
    // Adds to the certificates of Node.
    NODE_EXTRA_CA_CERTS: `${TRUST_PATH}/${CERTIFICATE_NAME}`,
    ...gitVariables(variables),
  };
}

/** A credential helper for each host whose credential may be used in Basic authentication. */
function gitVariables(variables: EgressCredentials['variables']): Record<string, string> {
  const helpers = variables.flatMap(({ hosts, placeholder, rules }) =>
    rules.basic ? hosts.map((host) => ({ host, placeholder })) : [],
  );
  if (helpers.length === 0) return {};
  const settings = helpers.flatMap(({ host, placeholder }, index): [string, string][] => [
    [`GIT_CONFIG_KEY_${index}`, `credential.https://${host}.helper`],
    [`GIT_CONFIG_VALUE_${index}`, gitHelper(placeholder)],
  ]);
  return { GIT_CONFIG_COUNT: String(helpers.length), ...Object.fromEntries(settings) };
}

/** Git runs the text after `!` in a shell. A placeholder has no characters that a shell interprets. */
const gitHelper = (placeholder: string): string =>
  `!f() { test "$1" = get && printf 'username=%s\\npassword=%s\\n' ${GIT_USER} ${placeholder}; }; f`;
