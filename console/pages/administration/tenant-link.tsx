import type { Sandbox } from '../../gen/index.ts';
import { TextLink } from '../../parts/navigation/links.tsx';
import { TruncatedText } from '../../ui/truncated-text.tsx';

/** Link to the session, agent or assistant that uses a sandbox. */
export function TenantLink({ sandbox: { tenancy, tenant_id: id } }: { sandbox: Sandbox }) {
  const content = <TruncatedText text={id} className="font-mono text-xs/5" />;
  if (tenancy === 'session') {
    return (
      <TextLink to="/sessions/$sessionId" params={{ sessionId: id }} className="block">
        {content}
      </TextLink>
    );
  }
  if (tenancy === 'agent') {
    return (
      <TextLink to="/agents/$agentId" params={{ agentId: id }} className="block">
        {content}
      </TextLink>
    );
  }
  return (
    <TextLink to="/assistants/$assistantId" params={{ assistantId: id }} className="block">
      {content}
    </TextLink>
  );
}
