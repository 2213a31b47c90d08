CREATE TABLE evalgate_approvals (
	id TEXT COLLATE "C" NOT NULL,
	suite TEXT COLLATE "C" NOT NULL,
	scenario TEXT COLLATE "C" NOT NULL,
	variant TEXT COLLATE "C",
	assertion TEXT COLLATE "C",
	change TEXT COLLATE "C",
	least_score DOUBLE PRECISION,
	reason TEXT COLLATE "C" NOT NULL,
	who TEXT COLLATE "C" NOT NULL,
	until DATE NOT NULL,
	traces JSON NOT NULL,
	checks JSON,
	source TEXT COLLATE "C" NOT NULL,
	pull_request BIGINT,
	comment_id BIGINT,
	comment_url TEXT COLLATE "C",
	head_commit TEXT COLLATE "C",
	permission TEXT COLLATE "C",
	self_approved BOOLEAN NOT NULL,
	recorded_at TIMESTAMP WITH TIME ZONE NOT NULL,
	withdrawn_at TIMESTAMP WITH TIME ZONE,
	covers JSON,
	repository TEXT COLLATE "C",
	PRIMARY KEY (id),
	CONSTRAINT approval_source_is_known CHECK (source IN ('file', 'comment', 'shell')),
	CONSTRAINT approval_least_score_is_0_to_1 CHECK (least_score >= 0 AND least_score <= 1)
);
CREATE TABLE evalgate_goldens (
	id TEXT COLLATE "C" NOT NULL,
	conversation_id TEXT COLLATE "C",
	title TEXT COLLATE "C" NOT NULL,
	description TEXT COLLATE "C" NOT NULL,
	intent TEXT COLLATE "C" NOT NULL,
	primary_stance TEXT COLLATE "C" NOT NULL,
	secondary_stances JSON NOT NULL,
	required_memory_recall JSON NOT NULL,
	required_tool_usage JSON NOT NULL,
	required_refusal JSON NOT NULL,
	user_messages JSON NOT NULL,
	golden_responses JSON NOT NULL,
	tags JSON NOT NULL,
	creator TEXT COLLATE "C",
	version BIGINT NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
	repository TEXT COLLATE "C",
	PRIMARY KEY (id),
	CONSTRAINT golden_version_is_1_or_more CHECK (version >= 1)
);
CREATE TABLE evalgate_regression_suites (
	name TEXT COLLATE "C" NOT NULL,
	description TEXT COLLATE "C" NOT NULL,
	golden_tags JSON NOT NULL,
	golden_intents JSON NOT NULL,
	passing_score DOUBLE PRECISION NOT NULL,
	critical_issue_threshold BIGINT NOT NULL,
	evaluate_identity BOOLEAN NOT NULL,
	evaluate_memory BOOLEAN NOT NULL,
	evaluate_tools BOOLEAN NOT NULL,
	evaluate_tone BOOLEAN NOT NULL,
	evaluate_refusal BOOLEAN NOT NULL,
	evaluate_accuracy BOOLEAN NOT NULL,
	evaluate_completeness BOOLEAN NOT NULL,
	creator TEXT COLLATE "C",
	tags JSON NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
	repository TEXT COLLATE "C",
	PRIMARY KEY (name),
	CONSTRAINT suite_passing_score_is_0_to_1 CHECK (passing_score >= 0 AND passing_score <= 1),
	CONSTRAINT suite_critical_issue_threshold_is_0_or_more CHECK (critical_issue_threshold >= 0)
);
CREATE TABLE evalgate_runs (
	number SERIAL NOT NULL,
	id TEXT COLLATE "C" NOT NULL,
	suites JSON NOT NULL,
	verdict TEXT COLLATE "C" NOT NULL,
	exit_code BIGINT NOT NULL,
	report_only BOOLEAN NOT NULL,
	repository TEXT COLLATE "C",
	branch TEXT COLLATE "C",
	commit_id TEXT COLLATE "C",
	pull_request BIGINT,
	url TEXT COLLATE "C",
	started_at TIMESTAMP WITH TIME ZONE NOT NULL,
	completed_at TIMESTAMP WITH TIME ZONE NOT NULL,
	duration_ms BIGINT NOT NULL,
	evaluated BIGINT NOT NULL,
	passed BIGINT NOT NULL,
	failed BIGINT NOT NULL,
	avg_score DOUBLE PRECISION,
	regressions BIGINT NOT NULL,
	improvements BIGINT NOT NULL,
	degradations BIGINT NOT NULL,
	score DOUBLE PRECISION,
	pass_rate DOUBLE PRECISION,
	cost_usd DOUBLE PRECISION,
	total_tokens BIGINT,
	latency_p50_s DOUBLE PRECISION,
	latency_p95_s DOUBLE PRECISION,
	issues JSON NOT NULL,
	approval_status TEXT COLLATE "C" NOT NULL,
	approved_by TEXT COLLATE "C",
	approval_comment TEXT COLLATE "C" NOT NULL,
	approval_at TIMESTAMP WITH TIME ZONE,
	not_measured BIGINT DEFAULT '0' NOT NULL,
	PRIMARY KEY (number),
	CONSTRAINT run_verdict_is_known CHECK (verdict IN ('pass', 'fail', 'cannot_judge', 'invalid')),
	CONSTRAINT run_approval_status_is_known CHECK (approval_status IN ('pending', 'approved', 'rejected')),
	CONSTRAINT run_avg_score_is_0_to_1 CHECK (avg_score >= 0 AND avg_score <= 1),
	CONSTRAINT run_score_is_0_to_1 CHECK (score >= 0 AND score <= 1),
	CONSTRAINT run_pass_rate_is_0_to_1 CHECK (pass_rate >= 0 AND pass_rate <= 1),
	UNIQUE (id)
);
CREATE TABLE evalgate_scenarios (
	number SERIAL NOT NULL,
	digest TEXT COLLATE "C" NOT NULL,
	suite TEXT COLLATE "C" NOT NULL,
	scenario_id TEXT COLLATE "C" NOT NULL,
	variant TEXT COLLATE "C",
	PRIMARY KEY (number),
	UNIQUE (digest)
);
CREATE TABLE evalgate_evaluations (
	id TEXT COLLATE "C" NOT NULL,
	golden_id TEXT COLLATE "C" NOT NULL,
	golden_version BIGINT NOT NULL,
	run_id TEXT COLLATE "C",
	suite TEXT COLLATE "C" NOT NULL,
	trial BIGINT NOT NULL,
	trace_id TEXT COLLATE "C",
	trace_sha256 TEXT COLLATE "C",
	overall_score DOUBLE PRECISION,
	level TEXT COLLATE "C",
	identity_correctness DOUBLE PRECISION,
	memory_precision DOUBLE PRECISION,
	memory_recall DOUBLE PRECISION,
	tool_success_rate DOUBLE PRECISION,
	tone_adherence DOUBLE PRECISION,
	refusal_correctness DOUBLE PRECISION,
	factual_accuracy DOUBLE PRECISION,
	response_completeness DOUBLE PRECISION,
	total_turns BIGINT NOT NULL,
	avg_latency_ms DOUBLE PRECISION,
	total_tokens BIGINT,
	total_cost DOUBLE PRECISION,
	issue_count BIGINT NOT NULL,
	critical_issue_count BIGINT NOT NULL,
	pass_rate DOUBLE PRECISION,
	turns JSON NOT NULL,
	issues JSON NOT NULL,
	regression_status TEXT COLLATE "C",
	previous_score DOUBLE PRECISION,
	evaluated_by TEXT COLLATE "C" NOT NULL,
	evaluated_at TIMESTAMP WITH TIME ZONE NOT NULL,
	conversation_id TEXT COLLATE "C",
	PRIMARY KEY (id),
	CONSTRAINT evaluation_level_is_known CHECK (level IN ('excellent', 'good', 'fair', 'poor', 'failing')),
	CONSTRAINT evaluation_regression_status_is_known CHECK (regression_status IN ('pass', 'fail', 'improvement', 'degradation')),
	CONSTRAINT evaluation_overall_score_is_0_to_1 CHECK (overall_score >= 0 AND overall_score <= 1),
	CONSTRAINT evaluation_identity_correctness_is_0_to_1 CHECK (identity_correctness >= 0 AND identity_correctness <= 1),
	CONSTRAINT evaluation_memory_precision_is_0_to_1 CHECK (memory_precision >= 0 AND memory_precision <= 1),
	CONSTRAINT evaluation_memory_recall_is_0_to_1 CHECK (memory_recall >= 0 AND memory_recall <= 1),
	CONSTRAINT evaluation_tool_success_rate_is_0_to_1 CHECK (tool_success_rate >= 0 AND tool_success_rate <= 1),
	CONSTRAINT evaluation_tone_adherence_is_0_to_1 CHECK (tone_adherence >= 0 AND tone_adherence <= 1),
	CONSTRAINT evaluation_refusal_correctness_is_0_to_1 CHECK (refusal_correctness >= 0 AND refusal_correctness <= 1),
	CONSTRAINT evaluation_factual_accuracy_is_0_to_1 CHECK (factual_accuracy >= 0 AND factual_accuracy <= 1),
	CONSTRAINT evaluation_response_completeness_is_0_to_1 CHECK (response_completeness >= 0 AND response_completeness <= 1),
	CONSTRAINT evaluation_pass_rate_is_0_to_1 CHECK (pass_rate >= 0 AND pass_rate <= 1),
	CONSTRAINT evaluation_previous_score_is_0_to_1 CHECK (previous_score >= 0 AND previous_score <= 1),
	FOREIGN KEY(golden_id) REFERENCES evalgate_goldens (id) ON DELETE CASCADE,
	FOREIGN KEY(run_id) REFERENCES evalgate_runs (id) ON DELETE CASCADE
);
CREATE TABLE evalgate_feedback (
	id TEXT COLLATE "C" NOT NULL,
	conversation_id TEXT COLLATE "C" NOT NULL,
	rating BIGINT NOT NULL,
	feedback TEXT COLLATE "C" NOT NULL,
	comment TEXT COLLATE "C" NOT NULL,
	issues JSON NOT NULL,
	user_id TEXT COLLATE "C",
	message_id TEXT COLLATE "C",
	golden_id TEXT COLLATE "C",
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	repository TEXT COLLATE "C",
	PRIMARY KEY (id),
	CONSTRAINT feedback_rating_is_1_to_5 CHECK (rating BETWEEN 1 AND 5),
	CONSTRAINT feedback_is_positive_negative_or_neutral CHECK (feedback IN ('positive', 'negative', 'neutral')),
	FOREIGN KEY(golden_id) REFERENCES evalgate_goldens (id) ON DELETE SET NULL
);
CREATE TABLE evalgate_golden_tags (
	golden_id TEXT COLLATE "C" NOT NULL,
	tag TEXT COLLATE "C" NOT NULL,
	PRIMARY KEY (golden_id, tag),
	FOREIGN KEY(golden_id) REFERENCES evalgate_goldens (id) ON DELETE CASCADE
);
CREATE TABLE evalgate_regression_suite_goldens (
	suite TEXT COLLATE "C" NOT NULL,
	golden_id TEXT COLLATE "C" NOT NULL,
	position BIGINT NOT NULL,
	PRIMARY KEY (suite, golden_id),
	FOREIGN KEY(suite) REFERENCES evalgate_regression_suites (name) ON DELETE CASCADE,
	FOREIGN KEY(golden_id) REFERENCES evalgate_goldens (id) ON DELETE CASCADE
);
CREATE TABLE evalgate_run_results (
	run INTEGER NOT NULL,
	results BYTEA NOT NULL,
	PRIMARY KEY (run),
	FOREIGN KEY(run) REFERENCES evalgate_runs (number) ON DELETE CASCADE
);
CREATE TABLE evalgate_run_scenarios (
	run INTEGER NOT NULL,
	scenario INTEGER NOT NULL,
	position BIGINT NOT NULL,
	verdict TEXT COLLATE "C" NOT NULL,
	score DOUBLE PRECISION,
	n BIGINT NOT NULL,
	passed BIGINT NOT NULL,
	pass_rate DOUBLE PRECISION,
	dimensions JSON NOT NULL,
	cost_usd DOUBLE PRECISION,
	latency_s DOUBLE PRECISION,
	tokens DOUBLE PRECISION,
	change TEXT COLLATE "C",
	trace_sha256 TEXT COLLATE "C",
	repository TEXT COLLATE "C",
	branch TEXT COLLATE "C",
	completed_at TIMESTAMP WITH TIME ZONE NOT NULL,
	quarantined BOOLEAN DEFAULT false NOT NULL,
	not_measured BIGINT DEFAULT '0' NOT NULL,
	PRIMARY KEY (run, scenario),
	CONSTRAINT run_scenario_verdict_is_known CHECK (verdict IN ('PASS', 'PARTIAL', 'FAIL', 'HARD_FAIL', 'ERROR', 'MISSING', 'NOT_EVALUABLE')),
	CONSTRAINT run_scenario_change_is_known CHECK (change IN ('unchanged', 'improved', 'regressed', 'broken', 'fixed', 'new', 'removed', 'inconclusive')),
	CONSTRAINT run_scenario_score_is_0_to_1 CHECK (score >= 0 AND score <= 1),
	CONSTRAINT run_scenario_pass_rate_is_0_to_1 CHECK (pass_rate >= 0 AND pass_rate <= 1),
	FOREIGN KEY(run) REFERENCES evalgate_runs (number) ON DELETE CASCADE,
	FOREIGN KEY(scenario) REFERENCES evalgate_scenarios (number)
);
CREATE TABLE evalgate_run_suites (
	run INTEGER NOT NULL,
	name TEXT COLLATE "C" NOT NULL,
	position BIGINT NOT NULL,
	verdict TEXT COLLATE "C" NOT NULL,
	score DOUBLE PRECISION,
	pass_rate DOUBLE PRECISION,
	cost_usd DOUBLE PRECISION,
	total_tokens BIGINT,
	latency_p50_s DOUBLE PRECISION,
	latency_p95_s DOUBLE PRECISION,
	dimensions JSON NOT NULL,
	branch TEXT COLLATE "C",
	completed_at TIMESTAMP WITH TIME ZONE NOT NULL,
	not_measured BIGINT DEFAULT '0' NOT NULL,
	PRIMARY KEY (run, name),
	CONSTRAINT run_suite_verdict_is_known CHECK (verdict IN ('pass', 'fail', 'cannot_judge', 'invalid')),
	CONSTRAINT run_suite_score_is_0_to_1 CHECK (score >= 0 AND score <= 1),
	CONSTRAINT run_suite_pass_rate_is_0_to_1 CHECK (pass_rate >= 0 AND pass_rate <= 1),
	FOREIGN KEY(run) REFERENCES evalgate_runs (number) ON DELETE CASCADE
);
CREATE INDEX evalgate_approvals_by_suite ON evalgate_approvals (suite);
CREATE INDEX evalgate_approvals_by_until ON evalgate_approvals (until);
CREATE INDEX evalgate_goldens_by_creator ON evalgate_goldens (creator);
CREATE INDEX evalgate_goldens_by_intent ON evalgate_goldens (intent);
CREATE INDEX evalgate_goldens_by_stance ON evalgate_goldens (primary_stance);
CREATE INDEX evalgate_runs_by_branch ON evalgate_runs (branch, completed_at);
CREATE INDEX evalgate_runs_by_repository ON evalgate_runs (repository, branch, completed_at);
CREATE INDEX evalgate_runs_by_time ON evalgate_runs (completed_at, number);
CREATE INDEX evalgate_scenarios_by_suite ON evalgate_scenarios (suite);
CREATE INDEX evalgate_evaluations_by_golden ON evalgate_evaluations (golden_id, evaluated_at);
CREATE INDEX evalgate_evaluations_by_run ON evalgate_evaluations (run_id);
CREATE INDEX evalgate_evaluations_by_status ON evalgate_evaluations (regression_status, evaluated_at);
CREATE INDEX evalgate_evaluations_by_suite ON evalgate_evaluations (suite, evaluated_at);
CREATE INDEX evalgate_evaluations_by_time ON evalgate_evaluations (evaluated_at);
CREATE INDEX evalgate_evaluations_by_trace ON evalgate_evaluations (trace_sha256);
CREATE INDEX evalgate_feedback_by_conversation ON evalgate_feedback (conversation_id);
CREATE INDEX evalgate_feedback_by_golden ON evalgate_feedback (golden_id);
CREATE INDEX evalgate_golden_tags_by_tag ON evalgate_golden_tags (tag);
CREATE INDEX evalgate_regression_suite_goldens_by_golden ON evalgate_regression_suite_goldens (golden_id);
CREATE INDEX evalgate_run_scenarios_by_branch ON evalgate_run_scenarios (scenario, branch, completed_at, run);
CREATE INDEX evalgate_run_scenarios_by_repository ON evalgate_run_scenarios (scenario, repository, branch, completed_at, run);
CREATE INDEX evalgate_run_scenarios_by_time ON evalgate_run_scenarios (scenario, completed_at, run);
CREATE INDEX evalgate_run_scenarios_by_trace ON evalgate_run_scenarios (trace_sha256);
CREATE INDEX evalgate_run_suites_by_branch ON evalgate_run_suites (name, branch, completed_at, run);
CREATE INDEX evalgate_run_suites_by_name ON evalgate_run_suites (name, completed_at, run);
