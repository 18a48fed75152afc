import type { Skill } from '../../gen/index.ts';
import { Badge } from '../../ui/badge.tsx';

export function SkillState({ skill: { enabled } }: { skill: Skill }) {
  return enabled ? <Badge tone="good">Enabled</Badge> : <Badge>Disabled</Badge>;
}
