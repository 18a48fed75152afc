import { type Settings, setting } from '../../lib/env.ts';
import { fileMaxBytes, mcpMaxTools, workspaceMaxBytes, workspaceMaxFiles } from '../../lib/limits.ts';
import type { ModelTable } from '../../lib/models/table.ts';
import type { PrivateHost } from '../../lib/outbound/private-hosts.ts';
import { type ProviderSettings, providerSettings } from './models/provider-settings.ts';

const turns = {
  slots: setting.integer(
    'SERVICE_RUNNER_SLOTS',
    { min: 0, max: 1_000, unit: 'turns' },
    {
      fallback: 256,
      about:
        'Maximum number of turns that one runner runs at the same time. A runner with 0 slots claims no turns.',
    },
  ),
  reportIntervalMs: setting.integer(
    'SERVICE_RUNNER_REPORT_INTERVAL_MS',
    { min: 25, max: 50, unit: 'milliseconds' },
    {
      fallback: 30,
      about:
        'Interval at which a runner appends the new events of a turn to the journal while a client follows the ' +
        'session. Lower it only if clients must show text sooner; each report is a write.',
    },
  ),
  unfollowedReportIntervalMs: setting.integer(
    'SERVICE_RUNNER_UNFOLLOWED_REPORT_INTERVAL_MS',
    { min: 50, max: 10_000, unit: 'milliseconds' },
    {
      fallback: 500,
      about:
        'Interval at which a runner appends streamed text and tool output to the journal while no client follows the ' +
        'session. Messages, tool calls, approvals and ends of turns are appended at once. Raise it to write less.',
    },
  ),
  stepTimeoutSeconds: setting.integer(
    'SERVICE_RUNNER_STEP_TIMEOUT_SECONDS',
    { min: 1, max: 86_400, unit: 'seconds' },
    {
      fallback: 600,
      about: 'Time limit of one model step. A step that exceeds it is aborted and the turn is retried.',
    },
  ),
  toolTimeoutSeconds: setting.integer(
    'SERVICE_RUNNER_TOOL_TIMEOUT_SECONDS',
    { min: 1, max: 86_400, unit: 'seconds' },
    {
      fallback: 120,
      about:
        'Time limit of one tool call. A call that exceeds it is aborted and the model gets an error result. ' +
        'Commands use the time limit of their environment instead.',
    },
  ),
  maxSandboxes: setting.integer(
    'SERVICE_RUNNER_SANDBOXES',
    { min: 1, max: 100_000, unit: 'sandboxes' },
    {
      fallback: 1_000,
      about:
        'Maximum number of sandboxes of one runner, including sleeping ones. At the limit, the sandbox that has ' +
        'been unused for the longest time is released.',
    },
  ),
  drainMs: setting.integer(
    'SERVICE_RUNNER_DRAIN_MS',
    { min: 0, max: 1_500, unit: 'milliseconds' },
    {
      fallback: 1_000,
      about: 'How long a stopping runner lets its turns continue before it returns them to the queue.',
    },
  ),
};

/** Also settings of other services. */
const shared = { mcpMaxTools };

const sandboxes = {
  sandboxDirectory: setting.optionalText(
    'SERVICE_SANDBOX_DIRECTORY',
    'Directory on a local disk for the files of the sandboxes. Each runner needs its own. Default: a directory in ' +
      'SERVICE_DATA_DIR, or for the target runner a directory in the system directory for temporary files.',
  ),
  sandboxDiskMib: setting.optionalInteger(
    'SERVICE_SANDBOX_DISK_MIB',
    { min: 1, max: 1_073_741_824, unit: 'MiB' },
    'Limit for all workspace copies of a runner together, in MiB. At the limit, the command whose copy has grown most is ' +
      'ended. Default: the free space of SERVICE_SANDBOX_DIRECTORY at start, less a reserve of 5 % of the disk, at most ' +
      '512 MiB.',
  ),
  skillCopiesMib: setting.integer(
    'SERVICE_SKILL_COPIES_MIB',
    { min: 128, max: 1_073_741_824, unit: 'MiB' },
    {
      fallback: 1_024,
      about:
        'Limit for the copies of skills that the commands of a runner see, in MiB. At the limit, copies that no command ' +
        'uses are removed, the least recently used one first. A command whose skills do not fit fails. Raise it for agents ' +
        'with many large skills.',
    },
  ),
  workspaceMaxBytes,
  workspaceMaxFiles,
  fileMaxBytes,
  sandboxFirstUid: setting.integer(
    'SERVICE_SANDBOX_FIRST_UID',
    { min: 1, max: 4_294_950_000 },
    {
      fallback: 1_900_000_000,
      about:
        'First user ID for bubblewrap sandboxes when the runner is root. Each sandbox runs as a different user. ' +
        'No other process may use one of the 10,000 IDs that begin here.',
    },
  ),
  sandboxShownDirectories: setting.list(
    'SERVICE_SANDBOX_SHOWN_DIRECTORIES',
    'absolute paths, separated by commas',
    {
      fallback: [],
      about:
        'Directories of the runner, such as /opt, that commands in bubblewrap sandboxes can read in addition to /usr.',
    },
  ),
};

export const settings = { ...turns, ...shared, ...sandboxes, ...providerSettings };

export type RunnerConfig = Settings<typeof turns & typeof shared> &
  Partial<Settings<typeof sandboxes>> &
  ProviderSettings & {
    /** The limits and capabilities of models. Default: those of this release. */
    modelTable?: ModelTable | undefined;
    /** Private hosts that MCP servers may have. */
    outboundPrivateHosts?: readonly PrivateHost[] | undefined;
  };
