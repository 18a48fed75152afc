import { Type } from 'typebox';
import type { Assistant } from '../../proto/gen/ahs/agents/v1/agents.ts';
import type { Workspace } from '../../proto/gen/ahs/files/v1/files.ts';
import {
  closed,
  count,
  id,
  Metadata,
  NULL,
  nullable,
  revision,
  serializeTime,
  serializeTimeOrNull,
  time,
} from './common.ts';
import { creation, description, enabled, name, patch, runtime, serializeRuntime } from './runtime.ts';

export const AssistantCreation = closed(creation);
export const AssistantPatch = closed(patch);

export const AssistantShape = Type.Object(
  {
    assistant_id: id('ast', 'the assistant'),
    name,
    description,
    ...runtime,
    metadata: Metadata,
    enabled,
    revision,
    created_by: id('usr', 'the owner'),
    created_at: time('The creation time.'),
    updated_at: time('The time of the last change.'),
  },
  { title: 'Assistant' },
);

export const WorkspaceShape = Type.Object(
  {
    workspace_id: id('wsp', 'the workspace'),
    version: count(
      'The version, which increases with every change. 0 for a workspace that was never changed.',
      0,
    ),
    oldest_version: count('The oldest version that is still stored.', 0),
    files: count('The number of files.', 0),
    bytes: count('The total size of the files in bytes.', 0),
    max_files: count('The maximum number of files.', 100_000),
    max_bytes: count('The maximum total size in bytes.', 10_737_418_240),
    last_seq: count('The seq of the newest change.', 0),
    updated_at: nullable(time('The time of the last change.'), NULL),
  },
  { title: 'Workspace' },
);

export function serializeAssistant(assistant: Assistant | undefined) {
  return {
    assistant_id: assistant?.assistantId,
    name: assistant?.name,
    description: assistant?.description,
    ...serializeRuntime(assistant?.runtime),
    metadata: assistant?.metadata,
    enabled: assistant?.enabled,
    revision: assistant?.revision ?? 1,
    created_by: assistant?.createdBy,
    created_at: serializeTime(assistant?.createdAt),
    updated_at: serializeTime(assistant?.updatedAt),
  };
}

export function serializeWorkspace(workspace: Workspace | undefined) {
  return {
    workspace_id: workspace?.workspaceId,
    version: workspace?.version,
    oldest_version: workspace?.oldestVersion,
    files: workspace?.files,
    bytes: workspace?.bytes,
    max_files: workspace?.maxFiles,
    max_bytes: workspace?.maxBytes,
    last_seq: workspace?.lastSeq,
    updated_at: serializeTimeOrNull(workspace?.updatedAt),
  };
}
