import { Button } from '../../../../ui/button.tsx';
import type { DecisionProps } from '../decision.ts';
import { questionOf } from '../question/question.ts';
import { QuestionForm } from '../question/question-form.tsx';
import { LinkRequest } from './link-request.tsx';

/** Card for a call whose server asks a person for input: a form, or a link to open. */
export function InputDecision({ approval, busy, refused, onDecide, curlOf }: DecisionProps) {
  const { name = '', message = '', form, url } = approval.details ?? {};
  // Names the server, because several approvals can be pending.
  const which = <span className="sr-only">: {name}</span>;
  const question = questionOf({ question: message, schema: form });
  const otherButtons = (
    <>
      <Button small busy={busy} onClick={() => onDecide({ decision: 'decline' })}>
        Decline
        {which}
      </Button>
      <Button small look="quiet" busy={busy} onClick={() => onDecide({ decision: 'cancel' })}>
        Cancel
        {which}
      </Button>
    </>
  );
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1 font-medium wrap-anywhere">{name} asks for input</legend>
      <p className="text-[13px] text-muted">
        The text comes from the server. Your answer is sent to it. Do not enter passwords or keys.
      </p>
      {question ? (
        <QuestionForm
          question={question}
          busy={busy}
          refused={refused}
          onAnswer={(content) => onDecide({ decision: 'accept', content })}
          curlOf={(content) => curlOf({ decision: 'accept', content })}
        >
          {otherButtons}
        </QuestionForm>
      ) : (
        <LinkRequest
          message={message}
          url={url ?? ''}
          busy={busy}
          onDone={() => onDecide({ decision: 'accept' })}
        >
          {otherButtons}
          {curlOf({ decision: 'accept' })}
        </LinkRequest>
      )}
    </fieldset>
  );
}
