// The answers of the server, as far as the page reads them. `attache schema` prints the whole of each.

export interface Kind { group: string; kind: string }
export interface Ref extends Kind { namespace: string; name: string; section?: string }

export interface Look { state: string; class: string; glyph: string; sign: string; words: string }

export interface State {
  mode: 'cluster' | 'directory';
  source: string;
  user: string | null;
  version: string;
  generation: number;
  problems: string[];
  commandArguments: string[];
  looks: Look[];
}

export interface GraphNode {
  id: string;
  object: Ref;
  type: string;
  state?: string;
  missing?: boolean;
  reason?: string;
  unaccepted?: string;
  hostnames?: string[];
}
export interface GraphEdge { from: string; to: string; type: string; reason?: string }
export interface GraphData { graph: { nodes: GraphNode[]; edges: GraphEdge[] }; looks: Look[]; badges: Record<string, string>; from: string[] }

export interface Reported {
  ancestor?: Ref | null;
  condition: string;
  controller?: string | null;
  current: boolean;
  message: string;
  reason: string;
  status: string;
}

interface PolicyFacts {
  class: 'direct' | 'inherited';
  strategy: string | null;
  writtenStrategy: string | null;
  state: string;
  reason?: string | null;
  by: Ref[];
  disagreement?: string | null;
  reported?: Reported[];
  reportedState?: string | null;
  caveats?: string[];
}

export interface Target { target: Ref; accepted: string; state: string | null; reason?: string | null; overriddenOn: Ref[]; mergedWith: Ref[] }
export interface Listed extends PolicyFacts { policy: Ref; actsOn: number; created: string | null; targets: Target[] }
export interface Policies { policies: Listed[] }

export interface PolicyOnObject extends PolicyFacts { policy: Ref; relation: 'attached' | 'inherited'; target: Ref }

export interface Effective {
  policyKind: Kind;
  path: Ref[];
  spec: unknown;
  sources: Record<string, Ref>;
  mergedOf?: Ref[];
  removed?: string[];
}
export interface OnPaths extends Effective {
  paths: number;
  listeners: Ref[];
  targets: Ref[];
  incomplete?: boolean;
  notAttached?: boolean;
  requestsFrom?: string[];
}
export interface Problem { object: Ref; reason: string; what: string }
export interface Overview {
  class?: string | null;
  controller?: string | null;
  gateways?: Ref[];
  listeners?: { name: string; protocol: string; port: number; hostname?: string | null; routes: number }[];
  routes: Ref[];
  brokenRoutes?: { route: Ref; problems: Problem[] }[];
}
export interface OfTarget {
  object: Ref;
  hostnames?: string[];
  attachedTo?: Ref[];
  notAttachedTo?: Ref[];
  backends?: { object: Ref; policies: PolicyOnObject[] }[];
  usedBy?: Ref[];
  problems?: Problem[];
  overview?: Overview | null;
  policies: PolicyOnObject[];
  effective: OnPaths[];
  onRoutes?: OnPaths[];
}

export interface Condition { type: string; status: string; reason: string; message: string }
export interface OnTarget extends Target { actsOn: Ref[]; by: Ref[]; lost?: Record<string, Ref[]> }
export interface OfPolicy extends PolicyFacts {
  object: Ref;
  conditions: Condition[];
  ancestors: { ancestor: Ref; conditions: Condition[]; controller: string | null }[];
  settings: Record<string, unknown>;
  targets: OnTarget[];
  changes: Change[];
}
export interface OfKind { policyKind: Kind & { class: string; strategies: string[]; versions: string[] }; policies: Listed[] }
export interface OfWorkload { object: Ref; services: OfTarget[]; routes: OfTarget[] }
/** A description with the object itself, or why that cannot be shown. */
export type Description = (OfTarget | OfPolicy | OfKind | OfWorkload) & { yaml?: string | null; yamlProblem?: string };

export interface FieldChange { field: string; before: unknown; after: unknown; removed?: boolean; source: Ref | null }
export interface Change {
  object: Ref;
  change: 'changed' | 'added' | 'removed';
  path: Ref[];
  paths: { changed: number; of: number };
  policyKind: Kind;
  before: unknown;
  beforeFrom: Ref[];
  after: unknown;
  afterFrom: Ref[];
  fields: FieldChange[];
}
export interface Finding {
  code: string;
  severity: 'deny' | 'warn';
  notice?: boolean;
  known?: boolean;
  suppressed?: string | null;
  object?: Ref | null;
  field?: string | null;
  message: string;
  related: Ref[];
}
export interface Impact {
  applied: Ref[];
  deleted: Ref[];
  deletedWith: number;
  deletedRoutes: number;
  findings: Finding[];
  lostProtection: { object: Ref; policyKind: Kind; protection: string; settings: string[]; from: Ref[]; partly: boolean; opened: Ref[]; reasons: string[] }[];
  traffic: {
    detached: Ref[];
    reduced: { route: Ref; listeners: Ref[] }[];
    moved: { listener: Ref; before: { hostname: string | null; port: number }; after: { hostname: string | null; port: number }; change: string; routes: Ref[] }[];
    gained: { route: Ref; listeners: Ref[] }[];
    rerouted: { to: Ref; from: Ref; requests: string[] }[];
    notTaken: { rule: Ref; requests: string[] }[];
    notCompared: number;
    backends: { route: Ref; backend: Ref; reason: string }[];
    unserved: { gateway: Ref; class: Ref }[];
    failing: { policy: Ref; objects: Ref[] }[];
    answered: { policy: Ref; objects: Ref[] }[];
  };
  changes: Change[];
  orphaned: Ref[];
  idle: { object: Ref; reason: string }[];
  summary: { objects: number; policies: number };
}

export interface Guarded {
  name: string;
  action: string;
  /** None: all kinds together. */
  policyKind?: Kind;
  fulfilled: number;
  broken: number;
  errors: number;
  excepted: number;
  error?: string | null;
  faults: { target: Ref; rule: number; message: string; isError: boolean; paths: number; through?: string | null; policies: Ref[] }[];
  exceptions: { namespace: string; name: string; until: string; ended: boolean; reason: string }[];
  /** What may be wrong with it. */
  notes?: string[];
}
export interface Guardrails { guardrails: Guarded[]; teams?: Record<string, string> }
export interface Preview { impact: Impact; findings: { findings: Finding[] }; guardrails: { before: Guardrails; after: Guardrails } }

export interface Entry {
  generation: number;
  time: string;
  objects: { object: string; change: 'created' | 'updated' | 'deleted' }[];
  inForce: Change[];
}
export interface History { since: string; entries: Entry[] }

export interface Criterion { route: Ref; by: string; message: string }
export interface Backend { backend: Ref; port?: number | null; weight: number; state: string; answer?: string | null }
export interface Wanted { name: string; type: string; value: string }
export interface Step {
  gateway?: Ref | null;
  listener?: Ref | null;
  service?: Ref | null;
  port?: number | null;
  protocol?: string | null;
  hostname?: string | null;
  route?: Ref | null;
  rule?: Ref | null;
  matched?: { hostname?: string | null; path?: { type: string; value: string } | null; method?: string | null; grpcService?: string | null; grpcMethod?: string | null; headers: Wanted[]; query: Wanted[] } | null;
  filters: string[];
  backends: Backend[];
  mirrors?: { backend: Ref; port?: number | null; state: string }[];
  answer?: { message: string; status?: string | null; location?: string | null } | null;
  considered: Criterion[];
  consideredMore: number;
  notes: string[];
  effective: Effective[];
  policies: { policy: Ref; at: Ref[]; state: string; by: Ref[]; lost: string[]; reason?: string | null; caveats?: string[] }[];
}
export interface Unserved {
  gateway?: Ref | null;
  listener?: Ref | null;
  service?: Ref | null;
  port?: number | null;
  protocol?: string | null;
  at: string;
  message: string;
  nearest: string[];
  considered: Criterion[];
  consideredMore: number;
  notes: string[];
}
export interface Explanation { request: { scheme?: string | null; method?: string | null; host?: string | null; path: string }; served: boolean; steps: Step[]; unserved: Unserved[] }
