import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Answer } from '../http-client.ts';

interface OperationRef {
  /** As the document writes it. */
  readonly path: string;
  readonly method: string;
}

interface DocumentedHeader {
  readonly $ref?: string;
  readonly required?: boolean;
  readonly schema?: { readonly type?: string; readonly pattern?: string };
}

interface DocumentedResponse {
  readonly headers: Record<string, DocumentedHeader>;
  readonly content?: { readonly 'application/json'?: { readonly schema: object } };
}

interface OpenApiDocument {
  readonly paths: Record<string, Record<string, { readonly responses: Record<string, DocumentedResponse> }>>;
  readonly components: { readonly headers: Record<string, DocumentedHeader> };
}

/** Checks real answers against the OpenAPI document. */
export function openApiChecker(document: OpenApiDocument) {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema({ ...document, $id: 'https://api.test/openapi.json' });
  const compiled = new Map<string, ValidateFunction>();
  const known = Object.keys(document.components.headers);

  function bodyFault({ path, method, status }: OperationRef & { status: number }, body: unknown): string | undefined {
    const segments = ['paths', path, method, 'responses', String(status), 'content', 'application/json', 'schema'];
    const pointer = segments.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')));
    const $ref = `https://api.test/openapi.json#/${pointer.join('/')}`;
    // Hundreds of responses share their schemas, whose compilation would cost more than the requests.
    const schema = JSON.stringify(document.paths[path]?.[method]?.responses[status]?.content);
    const validate = compiled.get(schema) ?? ajv.compile({ $ref });
    compiled.set(schema, validate);
    return validate(body) ? undefined : ajv.errorsText(validate.errors);
  }

  function headerFault({ path, method }: OperationRef, { status, headers }: Answer): string | undefined {
    const documented = document.paths[path]?.[method]?.responses[String(status)]?.headers ?? {};
    for (const name of known) {
      const isThere = headers[name.toLowerCase()] !== undefined;
      if (isThere && !(name in documented)) return `${status} has the header ${name}, which is not documented`;
      const { required } = { ...(name in documented && document.components.headers[name]), ...documented[name] };
      if (!isThere && required) return `${status} lacks the header ${name}`;
    }
    return undefined;
  }

  return {
    /** Returns what is wrong with the body; undefined if nothing is. */
    bodyFault,
    /**
     * Returns what is wrong with an answer: status, content type, body, and headers that the document requires or omits.
     */
    answerFault(ref: OperationRef, answer: Answer): string | undefined {
      if (document.paths[ref.path]?.[ref.method]?.responses[String(answer.status)] === undefined) {
        return `${answer.status} is not documented: ${answer.text}`;
      }
      if (answer.headers['content-type'] !== 'application/json') return 'not application/json';
      return headerFault(ref, answer) ?? bodyFault({ ...ref, status: answer.status }, answer.json);
    },
  };
}
