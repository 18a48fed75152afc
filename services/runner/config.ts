import { type Settings, setting } from '../../lib/env.ts';

const turns = {
  slots: setting.integer(
    'SERVICE_RUNNER_SLOTS',
    { min: 0, max: 1_000, unit: 'turns' },
    {
      fallback: 256,
      about: 'Turns one runner carries out at the same time; with 0 it leaves them to other runners.',
    },
  ),
  reportIntervalMs: setting.integer(
    'SERVICE_RUNNER_REPORT_INTERVAL_MS',
    { min: 25, max: 50, unit: 'milliseconds' },
    { fallback: 30, about: 'How often a runner appends what its turns have said since the last time.' },
  ),
  stepTimeoutSeconds: setting.integer(
    'SERVICE_RUNNER_STEP_TIMEOUT_SECONDS',
    { min: 1, max: 86_400, unit: 'seconds' },
    { fallback: 600, about: 'The longest one model step may take before it is tried again.' },
  ),
  toolTimeoutSeconds: setting.integer(
    'SERVICE_RUNNER_TOOL_TIMEOUT_SECONDS',
    { min: 1, max: 86_400, unit: 'seconds' },
    {
      fallback: 120,
      about:
        'The longest one tool call may take; then the model is told that it did not finish. A command has the limit of its environment instead.',
    },
  ),
  mostSandboxes: setting.integer(
    'SERVICE_RUNNER_SANDBOXES',
    { min: 1, max: 100_000, unit: 'sandboxes' },
    {
      fallback: 1_000,
      about:
        'The most one runner has, those that sleep included; then the one that was left first is released.',
    },
  ),
  drainMs: setting.integer(
    'SERVICE_RUNNER_DRAIN_MS',
    { min: 0, max: 1_500, unit: 'milliseconds' },
    { fallback: 1_000, about: 'How long a stopping runner lets its turns go on before it hands them back.' },
  ),
};

const sandboxes = {
  sandboxDirectory: setting.optionalText(
    'SERVICE_SANDBOX_DIRECTORY',
    'Where the sandboxes of a runner have their files, on a local disk. Each runner needs one of its own. By default a directory in SERVICE_DATA_DIR, or, for the target runner, in the directory for temporary files.',
  ),
  sandboxFirstUid: setting.integer(
    'SERVICE_SANDBOX_FIRST_UID',
    { min: 1, max: 4_294_950_000 },
    {
      fallback: 1_900_000_000,
      about:
        'When the runner is root, each sandbox of bubblewrap is a user of its own, from this number on. Nobody else may be one of these 10,000 users.',
    },
  ),
  sandboxShownDirectories: setting.list(
    'SERVICE_SANDBOX_SHOWN_DIRECTORIES',
    'absolute paths, separated by commas',
    {
      fallback: [],
      about:
        'Directories of the runner that commands of bubblewrap may read beside its programs (/usr), such as /opt.',
    },
  ),
};

export const ANTHROPIC_URL = 'https://api.anthropic.com/v1';
export const OPENAI_URL = 'https://api.openai.com/v1';

const providers = {
  anthropicApiKey: setting.optionalKey(
    'SERVICE_ANTHROPIC_API_KEY',
    'With it, the models named anthropic/<model id> can be used. Only runners need it.',
  ),
  anthropicBaseUrl: setting.baseUrl('SERVICE_ANTHROPIC_BASE_URL', {
    fallback: ANTHROPIC_URL,
    about: 'Where the Messages API of Anthropic answers.',
  }),
  openaiApiKey: setting.optionalKey(
    'SERVICE_OPENAI_API_KEY',
    'With it, the models named openai/<model id> can be used. Only runners need it.',
  ),
  openaiBaseUrl: setting.baseUrl('SERVICE_OPENAI_BASE_URL', {
    fallback: OPENAI_URL,
    about: 'Where the Responses API of OpenAI answers.',
  }),
  modelEndpointKeys: setting.optionalKeys(
    'SERVICE_MODEL_ENDPOINT_KEYS',
    'The keys of those SERVICE_MODEL_ENDPOINTS that want one. Only runners need them.',
  ),
};

export const settings = { ...turns, ...sandboxes, ...providers };

/** What a runner knows of the providers of models. */
export type ProviderSettings = Partial<Settings<typeof providers>> & {
  /** Base URLs of OpenAI-compatible endpoints, by name. */
  modelEndpoints?: Record<string, string> | undefined;
};

export type RunnerConfig = Settings<typeof turns> & Partial<Settings<typeof sandboxes>> & ProviderSettings;
