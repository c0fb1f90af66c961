package process

func beRelay([]string) int { return 0 }
