import { Select } from '../../ui/select.tsx';
import type { ToolPermission } from './agent-draft.ts';
import { BUILT_IN_TOOLS } from './tools.ts';

const CHOICES = [
  { value: 'default', text: 'Default' },
  { value: 'allow', text: 'Allow' },
  { value: 'ask', text: 'Ask' },
  { value: 'deny', text: 'Deny' },
] as const;

export interface ToolsFieldProps {
  value: Record<string, ToolPermission>;
  onChange: (value: Record<string, ToolPermission>) => void;
  error: string | undefined;
}

/** Permission of the model for each tool. */
export function ToolsField({ value, onChange, error }: ToolsFieldProps) {
  // Tools that this release does not know, for example from a newer release or an MCP server.
  const others = Object.keys(value).filter((name) => !BUILT_IN_TOOLS.some((tool) => tool.name === name));
  function choose(name: string, choice: (typeof CHOICES)[number]['value']): void {
    const { [name]: _, ...rest } = value;
    onChange(choice === 'default' ? rest : { ...value, [name]: choice });
  }
  return (
    <>
      <ul className="divide-y divide-line rounded-xl border border-line bg-surface">
        {[...BUILT_IN_TOOLS, ...others.map((name) => ({ name, about: '' }))].map(({ name, about }) => (
          <li key={name} className="flex items-center gap-3 px-3 py-2">
            <div className="min-w-0 flex-1">
              <code className="block truncate font-mono text-[13px]">{name}</code>
              <span className="text-[13px] text-muted">{about}</span>
            </div>
            <Select
              label={`Permission for ${name}`}
              value={value[name] ?? 'default'}
              options={CHOICES}
              onChange={(choice) => choose(name, choice)}
              className="w-28 shrink-0"
            />
          </li>
        ))}
      </ul>
      {error && (
        <p role="alert" className="text-[13px] text-bad">
          {error}
        </p>
      )}
    </>
  );
}
