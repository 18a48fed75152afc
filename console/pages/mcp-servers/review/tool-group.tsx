import { useState } from 'react';
import type { McpToolRule } from '../../../gen/index.ts';
import { Card } from '../../../ui/page.tsx';
import { type ComparedTool, type Decisions, ruleOf } from './decisions.ts';
import { ToolReview } from './tool-review.tsx';

interface ToolGroupProps {
  label: string;
  tools: readonly ComparedTool[];
  decisions: Decisions;
  onDecide: (compared: ComparedTool, rule: McpToolRule) => void;
  /** The tools are hidden until the user opens the group. */
  isCollapsible?: boolean;
}

export function ToolGroup({ label, tools, decisions, onDecide, isCollapsible = false }: ToolGroupProps) {
  const [isOpen, setOpen] = useState(false);
  if (tools.length === 0) return null;
  const list = (
    <Card>
      <ul aria-label={label}>
        {tools.map((compared) => (
          <ToolReview
            key={compared.tool.name}
            compared={compared}
            rule={ruleOf(compared, decisions)}
            onChange={(rule) => onDecide(compared, rule)}
          />
        ))}
      </ul>
    </Card>
  );
  if (!isCollapsible) return list;
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="mb-2 w-fit cursor-pointer font-medium">{label}</summary>
      {isOpen && list}
    </details>
  );
}
