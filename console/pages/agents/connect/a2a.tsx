import { useState } from 'react';
import { Code, Copyable } from '../../../ui/code.tsx';
import { FormSection } from '../../../ui/form-section.tsx';
import { type A2aEndpoint, a2aCurl } from './snippets.ts';

/** What an A2A client needs to delegate tasks to the agent. */
export function A2aSection({
  endpoint,
  isPublic,
}: {
  endpoint: Omit<A2aEndpoint, 'messageId'>;
  isPublic: boolean;
}) {
  const { url, isTeam } = endpoint;
  const [messageId] = useState(() => `hello-${Date.now().toString(36)}`);
  return (
    <FormSection
      title="A2A"
      lead="Other agents delegate tasks to this agent with the Agent2Agent protocol, version 1.0. Enter the address of its card in the client."
    >
      <div>
        <div className="font-medium">Agent card</div>
        <Copyable text={`${url}/.well-known/agent-card.json`} label="Copy the address of the agent card" />
      </div>
      {isTeam ? (
        <p className="text-muted">
          {isPublic
            ? 'Everyone can read the card. Tasks need a token with the scope mcp or write.'
            : 'The card and tasks need a token with the scope mcp or write.'}
        </p>
      ) : (
        <p className="text-muted">This service runs without logins, so clients need no token.</p>
      )}
      <p>Run this command in a shell to try it.</p>
      <Code text={a2aCurl({ ...endpoint, messageId })} label="Text for A2A" wrap />
    </FormSection>
  );
}
