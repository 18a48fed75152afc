import { Select } from '../../ui/select.tsx';
import type { Permission } from './draft.ts';
import { TOOLS } from './tools.ts';

const CHOICES = [
  { value: 'default', text: 'Default' },
  { value: 'allow', text: 'Allow' },
  { value: 'ask', text: 'Ask' },
  { value: 'deny', text: 'Deny' },
] as const;

export interface ToolsFieldProps {
  value: Record<string, Permission>;
  onChange: (value: Record<string, Permission>) => void;
  error: string | undefined;
}

/** What the model may do by itself, tool by tool. */
export function ToolsField({ value, onChange, error }: ToolsFieldProps) {
  // Also those that another release, or a server, has brought.
  const others = Object.keys(value).filter((name) => !TOOLS.some((tool) => tool.name === name));
  function choose(name: string, choice: (typeof CHOICES)[number]['value']): void {
    const { [name]: _, ...rest } = value;
    onChange(choice === 'default' ? rest : { ...value, [name]: choice });
  }
  return (
    <>
      <ul className="divide-y divide-line rounded-xl border border-line bg-surface">
        {[...TOOLS, ...others.map((name) => ({ name, about: '' }))].map(({ name, about }) => (
          <li key={name} className="flex items-center gap-3 px-3 py-2">
            <div className="min-w-0 flex-1">
              <code className="block truncate font-mono text-[13px]">{name}</code>
              <span className="text-[13px] text-muted">{about}</span>
            </div>
            <Select
              label={`Permission of ${name}`}
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
