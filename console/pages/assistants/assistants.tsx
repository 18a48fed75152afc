import { Page } from '../../ui/page.tsx';

export function AssistantsPage() {
  return <Page title="Assistants">{null}</Page>;
}
