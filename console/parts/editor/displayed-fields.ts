import type { AgentVersion } from '../../gen/index.ts';
import { type DisplayedField, objectText } from '../diff/fields.ts';
import { type AgentSettings, isClientTool } from './agent-draft.ts';

type AgentRuntime = Pick<
  AgentVersion,
  'model' | 'model_options' | 'system' | 'environment_id' | 'tools' | 'max_steps' | 'budget'
>;

/** Returns the runtime settings of an agent version for display and comparison. */
export function runtimeFields(runtime: AgentRuntime): DisplayedField[] {
  const { max_tokens: tokens, max_turn_seconds: seconds } = runtime.budget;
  return [
    { label: 'Model', text: runtime.model },
    { label: 'System prompt', text: runtime.system },
    { label: 'Model options', text: objectText(runtime.model_options) },
    {
      label: 'Tools',
      text: runtime.tools
        .map((tool) => `${tool.name}: ${isClientTool(tool) ? 'client' : (tool.permission ?? 'default')}`)
        .sort()
        .join('\n'),
    },
    { label: 'Environment', text: runtime.environment_id ?? 'Default environment' },
    { label: 'Steps', text: String(runtime.max_steps) },
    { label: 'Output tokens', text: tokens?.toString() ?? 'No limit' },
    { label: 'Seconds', text: seconds?.toString() ?? 'No limit' },
  ];
}

/** Returns all settings for display and comparison, including name and metadata. */
export function settingsFields(editable: AgentSettings): DisplayedField[] {
  return [
    { label: 'Name', text: editable.name },
    { label: 'Description', text: editable.description },
    { label: 'Enabled', text: editable.enabled ? 'Yes' : 'No' },
    ...runtimeFields(editable),
    { label: 'Metadata', text: objectText(editable.metadata) },
  ];
}
