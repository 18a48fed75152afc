import type { McpToolRule } from '../../../gen/index.ts';
import { VisibleText } from '../../../parts/text/visible-text.tsx';
import { Badge } from '../../../ui/badge.tsx';
import { Checkbox } from '../../../ui/checkbox.tsx';
import { Select } from '../../../ui/select.tsx';
import type { ComparedTool } from './decisions.ts';
import { ToolTexts } from './tool-texts.tsx';
import { WARNING_TEXTS } from './warnings.ts';

const PERMISSIONS = [
  { value: 'allow', text: 'Allow' },
  { value: 'ask', text: 'Ask' },
  { value: 'deny', text: 'Deny' },
] as const;
const EFFECTS = [
  { value: 'read', text: 'Reads only' },
  { value: 'idempotent', text: 'Can be repeated' },
  { value: 'once', text: 'Must run once' },
] as const;

export interface ToolReviewProps {
  compared: ComparedTool;
  rule: McpToolRule;
  onChange: (rule: McpToolRule) => void;
}

/** A tool with its texts, its warnings and the decision about it. */
export function ToolReview({ compared, rule, onChange }: ToolReviewProps) {
  const { tool, state } = compared;
  const { name, warnings } = tool;
  return (
    <li aria-label={name} className="flex flex-col gap-3 border-b border-line px-4 py-4 last:border-b-0">
      <div className="flex flex-wrap items-center gap-2">
        <h3 className="min-w-0 font-mono text-[13px] font-medium wrap-anywhere">
          <VisibleText text={name} />
        </h3>
        {state === 'changed' && <Badge tone="warn">changed</Badge>}
        {state === 'new' && <Badge tone="accent">new</Badge>}
        {warnings.map(({ kind, pointer }) => (
          <Badge key={kind + pointer} tone="bad">
            {WARNING_TEXTS[kind]}
          </Badge>
        ))}
      </div>
      <ToolTexts compared={compared} />
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <Checkbox checked={rule.offered} onChange={(offered) => onChange({ ...rule, offered })}>
          Offer<span className="sr-only"> {name}</span> to models
        </Checkbox>
        <span className="flex items-center gap-2">
          <span className="text-[13px] text-muted" aria-hidden>
            Permission
          </span>
          <Select
            label={`Permission of ${name}`}
            value={rule.permission}
            options={PERMISSIONS}
            onChange={(permission) => onChange({ ...rule, permission })}
            className="min-w-24"
          />
        </span>
        <span className="flex items-center gap-2">
          <span className="text-[13px] text-muted" aria-hidden>
            Effect
          </span>
          <Select
            label={`Effect of ${name}`}
            value={rule.effect}
            options={EFFECTS}
            onChange={(effect) => onChange({ ...rule, effect })}
            className="min-w-40"
          />
        </span>
      </div>
    </li>
  );
}
