import { setting } from './env.ts';

const MIB = 1024 * 1024;

/**
 * The maximum size of a webhook body in bytes. The edge stops reading there and deployments refuses longer bodies.
 * Both import this setting, so their limits cannot differ. The maximum is below the limit of a message between services
 * (lib/grpc/transport.ts). A body of the default size always fits into a message as JSON; deployments refuses longer
 * bodies that do not.
 */
export const webhookMaxBodyBytes = setting.integer(
  'SERVICE_WEBHOOK_MAX_BODY_BYTES',
  { min: 0, max: 60 * MIB, unit: 'bytes' },
  {
    fallback: 10 * MIB,
    about:
      'Longest request body that a webhook accepts, in bytes. Longer bodies return 413. Above the default, a body with many control or invalid bytes can return 413 as well, because its JSON text may have at most about 64 MiB.',
  },
);

const GIB = 1024 * MIB;

/*
 * Limits of workspaces. The files service refuses changes above them, and the runner limits the copies of workspaces in
 * sandboxes to them.
 */

export const workspaceMaxBytes = setting.integer(
  'SERVICE_WORKSPACE_MAX_BYTES',
  { min: 0, max: 1024 * 1024 * GIB, unit: 'bytes' },
  {
    fallback: 10 * GIB,
    about:
      'Limit for the total size of the current files of one workspace, in bytes. It also limits the copy of a workspace in ' +
      'a sandbox whose environment sets no workspace_mib. The same in files and runner.',
  },
);

export const workspaceMaxFiles = setting.integer(
  'SERVICE_WORKSPACE_MAX_FILES',
  { min: 0, max: 10_000_000 },
  {
    fallback: 200_000,
    about:
      'Limit for the number of files in one workspace. The same limit applies separately to directories. A copy in a sandbox ' +
      'can hold as many files and as many directories. The same in files and runner.',
  },
);

export const fileMaxBytes = setting.integer(
  'SERVICE_FILE_MAX_BYTES',
  { min: 0, max: 64 * GIB, unit: 'bytes' },
  {
    fallback: 5 * GIB,
    about:
      'Limit for the size of one file, in bytes. A command that writes a longer file gets the signal SIGXFSZ. The same in ' +
      'files and runner.',
  },
);

export const mcpMaxTools = setting.integer(
  'SERVICE_MCP_MAX_TOOLS',
  { min: 1, max: 10_000 },
  {
    fallback: 256,
    about:
      'Limit for the number of tools that the MCP servers of one agent offer to its model. The same in agents and runner.',
  },
);
