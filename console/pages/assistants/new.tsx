import { Page } from '../../ui/page.tsx';

export function NewAssistantPage() {
  return <Page title="New assistant">{null}</Page>;
}
