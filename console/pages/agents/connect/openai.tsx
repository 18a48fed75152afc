import { Code, Copyable } from '../../../ui/code.tsx';
import { FormSection } from '../../../ui/form-section.tsx';
import { type OpenaiEndpoint, openaiCurl } from './snippets.ts';

/** What a client of the OpenAI API needs to use the agent as a model. */
export function OpenaiSection({ endpoint }: { endpoint: OpenaiEndpoint }) {
  return (
    <FormSection
      title="OpenAI API"
      lead="Chat programs, editors and libraries for the OpenAI API use the agent as a model. Enter these values in the client."
    >
      <div>
        <div className="font-medium">Base URL</div>
        <Copyable text={endpoint.url} label="Copy the base URL" />
      </div>
      <div>
        <div className="font-medium">Model</div>
        <Copyable text={endpoint.model} label="Copy the model" />
      </div>
      <p className="text-muted">
        {endpoint.isTeam
          ? 'The API key is a token with the scope mcp or write.'
          : 'This service runs without logins, so clients can send any API key.'}
      </p>
      <p>Run this command in a shell to try it.</p>
      <Code text={openaiCurl(endpoint)} label="Text for the OpenAI API" wrap />
    </FormSection>
  );
}
