package pipeline

import (
	"fmt"

	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/transform"
)

// drawing is a seed, which may have been drawn where the user gave none.
type drawing struct {
	Seed  uint64 `json:"seed"`
	Drawn bool   `json:"drawn"`
}

func (d *drawing) seed() uint64 { return d.Seed }

// seedText is the seed as it was given.
func (d *drawing) seedText() string {
	if d.Drawn {
		return "None"
	}
	return fmt.Sprint(d.Seed)
}

// SampleFromDatasets is elements of its inputs, which are drawn by chance.
type SampleFromDatasets struct {
	drawing
	Weights []float64 `json:"weights"` // null: all the same
	// WeightsDataset says that the last input is a dataset of weights.
	WeightsDataset           bool `json:"weights_dataset"`
	StopOnEmptyDataset       bool `json:"stop_on_empty_dataset"`
	RerandomizeEachIteration bool `json:"rerandomize_each_iteration"`
}

func (*SampleFromDatasets) inputs() int { return some }

func (s *SampleFromDatasets) build(inputs []dataset.Definition, height int) (dataset.Definition, error) {
	o := transform.SampleOptions{Weights: s.Weights, StopOnEmpty: s.StopOnEmptyDataset, Seed: s.Seed, Height: uint64(height), SameEachPass: !s.RerandomizeEachIteration}
	if s.WeightsDataset {
		last := len(inputs) - 1
		o.Varying, inputs = inputs[last], inputs[:last]
	}
	return transform.SampleFromDatasets(o, inputs...)
}

func (s *SampleFromDatasets) reseeded(seed uint64) Op {
	copied := *s
	copied.Seed = seed
	return &copied
}

func (s *SampleFromDatasets) text() string {
	weights := fmt.Sprint(s.Weights)
	if s.WeightsDataset {
		weights = "dataset"
	}
	return fmt.Sprintf("sample_from_datasets(weights=%s, seed=%s, stop_on_empty_dataset=%s, rerandomize_each_iteration=%s)",
		weights, s.seedText(), python(s.StopOnEmptyDataset), python(s.RerandomizeEachIteration))
}

// ChooseFromDatasets is elements of its inputs, which the last input chooses.
type ChooseFromDatasets struct {
	StopOnEmptyDataset bool `json:"stop_on_empty_dataset"`
}

func (*ChooseFromDatasets) inputs() int { return some }

func (c *ChooseFromDatasets) build(inputs []dataset.Definition, _ int) (dataset.Definition, error) {
	last := len(inputs) - 1
	return transform.ChooseFromDatasets(inputs[last], c.StopOnEmptyDataset, inputs[:last]...)
}

func (c *ChooseFromDatasets) text() string {
	return fmt.Sprintf("choose_from_datasets(stop_on_empty_dataset=%s)", python(c.StopOnEmptyDataset))
}

// RejectionResample is elements whose classes, which ClassFunc says, come as often as
// TargetDist has it.
type RejectionResample struct {
	onOne
	drawing
	ClassFunc   Function  `json:"class_func"`
	TargetDist  []float64 `json:"target_dist"`
	InitialDist []float64 `json:"initial_dist"` // null: it is estimated
}

func (r *RejectionResample) build(inputs []dataset.Definition, height int) (dataset.Definition, error) {
	if r.InitialDist != nil && len(r.InitialDist) == 0 {
		return nil, errs.New(errs.InvalidArgument, "rejection_resample", "initial_dist is empty; give one number for each class, or None")
	}
	p, err := r.ClassFunc.program(inputs[0].Spec())
	if err != nil {
		return nil, err
	}
	return transform.RejectionResample(inputs[0], p, transform.ResampleOptions{Target: r.TargetDist, Initial: r.InitialDist, Seed: r.Seed, Height: uint64(height)})
}

func (r *RejectionResample) reseeded(seed uint64) Op {
	copied := *r
	copied.Seed = seed
	return &copied
}

func (r *RejectionResample) text() string {
	return fmt.Sprintf("rejection_resample(%s, target_dist=%v, initial_dist=%v, seed=%s)", r.ClassFunc.text(), r.TargetDist, r.InitialDist, r.seedText())
}
