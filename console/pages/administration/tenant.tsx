import type { Sandbox } from '../../gen/index.ts';
import { TextLink } from '../../parts/links.tsx';
import { Cut } from '../../ui/cut.tsx';

/** Whose a sandbox is: a session's, or that of all sessions with an agent or an assistant. */
export function Tenant({ sandbox: { tenancy, tenant_id: id } }: { sandbox: Sandbox }) {
  const shown = <Cut text={id} className="font-mono text-xs/5" />;
  if (tenancy === 'session') {
    return (
      <TextLink to="/sessions/$sessionId" params={{ sessionId: id }} className="block">
        {shown}
      </TextLink>
    );
  }
  if (tenancy === 'agent') {
    return (
      <TextLink to="/agents/$agentId" params={{ agentId: id }} className="block">
        {shown}
      </TextLink>
    );
  }
  return (
    <TextLink to="/assistants/$assistantId" params={{ assistantId: id }} className="block">
      {shown}
    </TextLink>
  );
}
