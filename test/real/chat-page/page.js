import { useChat } from '@ai-sdk/react';
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
} from 'ai';
import { createElement as h } from 'react';
import { createRoot } from 'react-dom/client';

const query = new URLSearchParams(location.search);
const session = `${query.get('service')}/api/v1/sessions/${query.get('session')}`;
const version = query.get('sdk');
const { data } = await (await fetch(`${session}/ai-messages?ai_sdk=${version}`)).json();

/** Shows a chat. Tests call `chat`, click the buttons and read the text of the messages. */
function Page() {
  const chat = useChat({
    id: query.get('session'),
    messages: data,
    resume: true,
    transport: new DefaultChatTransport({
      api: `${session}/ai-stream?ai_sdk=${version}&on_disconnect=${query.get('on_disconnect')}`,
    }),
    sendAutomaticallyWhen: (state) =>
      lastAssistantMessageIsCompleteWithApprovalResponses(state) ||
      lastAssistantMessageIsCompleteWithToolCalls(state),
    onToolCall({ toolCall }) {
      if (!toolCall.dynamic && query.has('answers_calls')) answerCall(toolCall.toolName, toolCall.toolCallId);
    },
  });
  // Not awaited: within onToolCall that would wait for the end of the stream that calls it.
  const answerCall = (tool, toolCallId) =>
    void chat.addToolOutput({ tool, toolCallId, output: JSON.parse(query.get('output')) });
  const button = (key, label, onClick) => h('button', { key, type: 'button', onClick }, label);
  const part = (one, index) => {
    if (one.type === 'text') return h('span', { key: index }, one.text);
    if (one.type === 'file') return h('img', { key: index, src: one.url, alt: one.filename ?? '' });
    if (one.state === 'approval-requested')
      return button(index, 'Approve', () =>
        chat.addToolApprovalResponse({ id: one.approval.id, approved: true }),
      );
    if (one.state === 'input-available' && one.type.startsWith('tool-'))
      return button(index, 'Answer', () => answerCall(one.type.slice('tool-'.length), one.toolCallId));
    return null;
  };
  window.chat = chat;
  return h(
    'main',
    { 'data-status': chat.status },
    chat.messages.map(({ id, role, parts }) => h('div', { key: id, className: role }, parts.map(part))),
    h('output', null, chat.error?.message),
  );
}

createRoot(document.getElementById('root')).render(h(Page));
