import { Type } from 'typebox';
import type { Assistant } from '../../proto/gen/ahs/agents/v1/agents.ts';
import type { Workspace } from '../../proto/gen/ahs/files/v1/files.ts';
import { closed, count, id, Metadata, NULL, nullable, shownTime, shownTimeOrNull, time } from './common.ts';
import { creation, description, enabled, name, patch, runtime, shownRuntime } from './runtime.ts';

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
    created_by: id('usr', 'whose it is'),
    created_at: time('When it was created.'),
    updated_at: time('When it last changed.'),
  },
  { title: 'Assistant' },
);

export const WorkspaceShape = Type.Object(
  {
    workspace_id: id('wsp', 'the workspace'),
    version: count('1, 2, 3 …: it grows with every change; 0 as long as nothing was ever in it.', 0),
    oldest_version: count('Older versions are not kept any more.', 0),
    files: count('How many files are in it.', 0),
    bytes: count('What they hold together.', 0),
    max_files: count('The most files it may hold.', 100_000),
    max_bytes: count('The most bytes it may hold.', 10_737_418_240),
    last_seq: count('The seq of its newest change.', 0),
    updated_at: nullable(time('When it last changed.'), NULL),
  },
  { title: 'Workspace' },
);

export function shownAssistant(assistant: Assistant | undefined) {
  return {
    assistant_id: assistant?.assistantId,
    name: assistant?.name,
    description: assistant?.description,
    ...shownRuntime(assistant?.runtime),
    metadata: assistant?.metadata,
    enabled: assistant?.enabled,
    created_by: assistant?.createdBy,
    created_at: shownTime(assistant?.createdAt),
    updated_at: shownTime(assistant?.updatedAt),
  };
}

export function shownWorkspace(workspace: Workspace | undefined) {
  return {
    workspace_id: workspace?.workspaceId,
    version: workspace?.version,
    oldest_version: workspace?.oldestVersion,
    files: workspace?.files,
    bytes: workspace?.bytes,
    max_files: workspace?.maxFiles,
    max_bytes: workspace?.maxBytes,
    last_seq: workspace?.lastSeq,
    updated_at: shownTimeOrNull(workspace?.updatedAt),
  };
}
